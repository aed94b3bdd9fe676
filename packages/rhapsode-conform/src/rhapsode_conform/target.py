"""What is to be checked: a worker that listens somewhere, or a command that starts one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from rhapsode_http import Address, TcpAddress, parse_address

_OURS = re.compile(r"rhapsode_engine_([A-Za-z0-9_]+)")


class NoTarget(ValueError):
    """What was named is nothing that could be checked."""


@dataclass(frozen=True)
class Target:
    """Either an address or a command."""

    address: Address | None = None

    command: tuple[str, ...] = ()

    engine: str | None = None
    """The engine's id, which a spawned worker is told; None: it is learnt from its handshake."""

    def __str__(self) -> str:
        return str(self.address) if self.address else " ".join(self.command)


def parse_target(
    words: Sequence[str], command: Sequence[str] | None, *, engine: str | None = None
) -> Target:
    """Reads the words of a command line.

    Args:
        words: One address, or none where there is a command.
        command: What stood behind `--`; None where that was not there.
        engine: The engine's id, where it was said.

    Raises:
        NoTarget: There is neither of the two, or both.
    """
    if command is not None:
        if not command or words:
            raise NoTarget("behind -- stands a command, and before it no address")
        named = _OURS.fullmatch(command[-1])
        return Target(command=tuple(command), engine=engine or (named[1] if named else None))
    if len(words) != 1:
        known = "unix:/path, tcp:host:port, http://host:port, or -- and a command that starts it"
        raise NoTarget(f"name one worker: {known}")
    return Target(address=_address(words[0]), engine=engine)


def _address(text: str) -> Address:
    if text.startswith(("unix:", "tcp:")):
        try:
            return parse_address(text)
        except ValueError as error:
            raise NoTarget(str(error)) from None
    if not text.startswith("http:"):
        raise NoTarget(f"{text!r} is none of unix:/path, tcp:host:port and http://host:port")
    url = urlsplit(text)
    try:
        port = url.port or 80
    except ValueError:
        port = 0
    if not url.hostname or not port or url.path not in {"", "/"}:
        raise NoTarget(f"{text!r} is not http://host:port")
    return TcpAddress(url.hostname, port)
