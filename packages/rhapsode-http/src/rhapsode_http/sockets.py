"""Listening sockets, bound by us: private Unix sockets, and TCP on both families."""

import errno
import os
import socket
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from rhapsode_http.address import Address, TcpAddress, UnixAddress

_LONGEST_UNIX_PATH_BYTES = 107 if sys.platform == "linux" else 103
"""`sun_path` less its closing zero."""

_FREE_PORT_TRIES = 8
"""A free port of the first family may be taken on the second; then another one is drawn."""


class SocketError(OSError):
    """An address that cannot be listened on; the message is one line for an operator."""


@dataclass
class BoundSockets:
    """Sockets that listen on one address, until `close()`."""

    address: Address
    """The real address: a port that was asked for as 0 is the port that was given."""
    sockets: tuple[socket.socket, ...]
    _file_identity: tuple[int, int] | None = field(default=None, repr=False)
    """Device and inode of the socket file, so that only our own is ever removed."""

    def close(self) -> None:
        """Stops listening and removes the socket file. May be called again."""
        for listener in self.sockets:
            listener.close()
        if isinstance(self.address, UnixAddress) and self._file_identity is not None:
            if _identity(self.address.path) == self._file_identity:
                self.address.path.unlink(missing_ok=True)
            self._file_identity = None

    def __enter__(self) -> "BoundSockets":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def bind(address: Address, *, backlog: int = 512) -> BoundSockets:
    """Binds and listens.

    A Unix socket is 0600 in a folder of ours that nobody else can enter; the folder is made
    where it is missing. `::` takes both IP families on one socket (IPv4 alone where the machine
    has no IPv6); a name takes every address it resolves to. Blocks on a name look-up.

    Args:
        address: Where to listen. A TCP port of 0 takes a free one.
        backlog: How many connections may wait to be accepted.

    Raises:
        SocketError: The address is in use, not ours to use, or not possible on this machine.
    """
    if isinstance(address, UnixAddress):
        return _bind_unix(address.path, backlog)
    return _bind_tcp(address, backlog)


# --- Unix ---------------------------------------------------------------------------------------


def _bind_unix(path: Path, backlog: int) -> BoundSockets:
    if len(os.fsencode(path)) > _LONGEST_UNIX_PATH_BYTES:
        raise SocketError(
            errno.ENAMETOOLONG,
            f"the socket path {path} is longer than the {_LONGEST_UNIX_PATH_BYTES} bytes"
            " this platform allows",
        )
    _claim_folder(path.parent)
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        os.chmod(path, 0o600)
        listener.listen(backlog)
    except OSError as error:
        listener.close()
        raise SocketError(error.errno, f"cannot listen on {path}: {error.strerror}") from error
    listener.setblocking(False)
    return BoundSockets(UnixAddress(path), (listener,), _identity(path))


def _claim_folder(folder: Path) -> None:
    """Makes sure that `folder` exists, is ours, and lets nobody else in."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        raise SocketError(
            error.errno, f"cannot use the socket folder {folder}: {error.strerror}"
        ) from error
    if status.st_uid != os.geteuid():
        raise SocketError(
            errno.EPERM,
            f"the socket folder {folder} belongs to user {status.st_uid}, not to us"
            f" (user {os.geteuid()})",
        )
    if status.st_mode & 0o077:
        raise SocketError(
            errno.EPERM,
            f"the socket folder {folder} is open to others"
            f" (mode {stat.S_IMODE(status.st_mode):04o}); 0700 is needed",
        )


def _remove_stale(path: Path) -> None:
    """Removes the socket file of a dead process; anything else in the way is an error."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise SocketError(errno.EEXIST, f"{path} exists and is not a socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        # A full backlog answers EAGAIN instead of waiting, and is as much alive as an accept.
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except OSError:
            pass
    raise SocketError(errno.EADDRINUSE, f"another process listens on {path}")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


# --- TCP ----------------------------------------------------------------------------------------


def _bind_tcp(address: TcpAddress, backlog: int) -> BoundSockets:
    if address.host == "::":
        try:
            return _bind_all([(socket.AF_INET6, "::")], address, backlog, dual_stack=True)
        except OSError as error:
            if not _means_no_such_family(error):
                raise
        address = TcpAddress("0.0.0.0", address.port)
    return _bind_all(_resolve(address), address, backlog)


def _resolve(address: TcpAddress) -> list[tuple[socket.AddressFamily, str]]:
    """Returns every address of the host, each once, in the resolver's order."""
    try:
        found = socket.getaddrinfo(
            address.host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise SocketError(
            errno.EADDRNOTAVAIL, f"the host {address.host!r} is not known: {error.strerror}"
        ) from error
    hosts = ((family, str(where[0])) for family, _, _, _, where in found)
    return list(dict.fromkeys(hosts))


def _bind_all(
    hosts: list[tuple[socket.AddressFamily, str]],
    address: TcpAddress,
    backlog: int,
    *,
    dual_stack: bool = False,
) -> BoundSockets:
    for tries_left in reversed(range(_FREE_PORT_TRIES)):
        try:
            listeners, port = _bind_each(hosts, address.port, backlog, dual_stack=dual_stack)
        except OSError as error:
            if address.port == 0 and error.errno == errno.EADDRINUSE and tries_left:
                continue
            if dual_stack and _means_no_such_family(error):
                raise
            raise SocketError(error.errno, _refusal(address, error)) from error
        return BoundSockets(TcpAddress(address.host, port), listeners)
    raise AssertionError("unreachable: the last try returns or raises")


def _bind_each(
    hosts: list[tuple[socket.AddressFamily, str]], port: int, backlog: int, *, dual_stack: bool
) -> tuple[tuple[socket.socket, ...], int]:
    """Binds every host to one port. A host that this machine lacks is left out if one is not."""
    listeners: list[socket.socket] = []
    missing: OSError | None = None
    try:
        for family, host in hosts:
            try:
                listener = _listen(family, host, port, backlog, dual_stack=dual_stack)
            except OSError as error:
                if not _means_no_such_family(error):
                    raise
                missing = error
                continue
            listeners.append(listener)
            port = listener.getsockname()[1]
        if not listeners and missing is not None:
            raise missing
    except OSError:
        _close_all(listeners)
        raise
    return tuple(listeners), port


def _listen(
    family: socket.AddressFamily, host: str, port: int, backlog: int, *, dual_stack: bool
) -> socket.socket:
    if family == socket.AF_INET6 and not socket.has_ipv6:
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A restart must not wait for the connections of its predecessor to be forgotten.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            only_ipv6 = 0 if dual_stack else 1
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only_ipv6)
        listener.bind((host, port))
        listener.listen(backlog)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _means_no_such_family(error: OSError) -> bool:
    return error.errno in {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL}


def _refusal(address: TcpAddress, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"the port {address.port} is in use on {address.host}"
    return f"cannot listen on {address}: {error.strerror}"


def _close_all(listeners: Iterable[socket.socket]) -> None:
    for listener in listeners:
        listener.close()
