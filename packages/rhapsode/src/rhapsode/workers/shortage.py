"""What this machine is short of when it cannot do its own part: that says nothing of a worker."""

import errno
import os
import ssl
from typing import Final

from rhapsode_contract import ModelUnavailable
from rhapsode_http import UpstreamError

_LACKED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Shortage(ModelUnavailable):
    """Nobody was asked anything: this machine lacks descriptors, or memory for them."""


def connection_shortage(error: UpstreamError) -> Shortage | None:
    """Returns the shortage that kept a connection from being made, where that was it."""
    return _shortage("this server cannot connect to the engine", error.__cause__)


def file_shortage(what: str, error: OSError) -> Shortage | None:
    """Returns the shortage that kept a file from being read, where that was it.

    Args:
        what: Such as `caFile: /etc/authorities.pem`.
        error: Of the reading.
    """
    return _shortage(what, error)


def process_shortage(error: OSError) -> Shortage | None:
    """Returns the shortage that kept a process from being started, where that was it."""
    # Of a fork, EAGAIN is a limit on processes; of a connection it would be the peer's backlog.
    lacked = _LACKED | {errno.EAGAIN}
    return _shortage("the engine's process cannot be started", error, lacked)


def _shortage(
    what: str, error: BaseException | None, lacked: frozenset[int] = _LACKED
) -> Shortage | None:
    # The numbers of a TLS error are OpenSSL's own.
    if not isinstance(error, OSError) or isinstance(error, ssl.SSLError):
        return None
    if error.errno not in lacked:
        return None
    return Shortage(f"{what}: {os.strerror(error.errno)}")
