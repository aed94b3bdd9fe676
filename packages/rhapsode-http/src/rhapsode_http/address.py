"""Where a server listens: `unix:/path` or `tcp:host:port`."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path

_LARGEST_PORT = 65535


@dataclass(frozen=True)
class UnixAddress:
    """A Unix domain socket, written `unix:/path`."""

    path: Path
    """Absolute path of the socket file."""

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True)
class TcpAddress:
    """A TCP port on one host, written `tcp:host:port`."""

    host: str
    """A name or an IP literal, without brackets."""
    port: int
    """0 to 65535; 0 asks for a free one."""

    def __str__(self) -> str:
        return f"tcp:{self.authority}"

    @property
    def authority(self) -> str:
        """`host:port` as a URL or a `Host` header writes it, IPv6 literals in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


Address = UnixAddress | TcpAddress


def parse_address(text: str) -> Address:
    """Reads an address as it is written in settings, variables and handshakes.

    Raises:
        ValueError: `text` is neither `unix:/path` nor `tcp:host:port`.
    """
    scheme, _, rest = text.partition(":")
    if scheme == "unix":
        return _parse_unix(text, rest)
    if scheme == "tcp":
        return _parse_tcp(text, rest)
    raise ValueError(f"the address {text!r} is neither unix:/path nor tcp:host:port")


def is_loopback(address: Address) -> bool:
    """Says whether only this machine can reach `address`.

    Names other than `localhost` are not looked up and count as reachable from outside.
    """
    if isinstance(address, UnixAddress) or address.host.lower() == "localhost":
        return True
    try:
        ip = ipaddress.ip_address(address.host)
    except ValueError:
        return False
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return (mapped or ip).is_loopback


def _parse_unix(text: str, path: str) -> UnixAddress:
    if not path.startswith("/") or "\0" in path:
        raise ValueError(f"the address {text!r} needs an absolute path after unix:")
    return UnixAddress(Path(path))


def _parse_tcp(text: str, rest: str) -> TcpAddress:
    host, colon, port = rest.rpartition(":")
    if not colon or not host:
        raise ValueError(f"the address {text!r} needs a host and a port after tcp:")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        if ":" not in host:
            raise ValueError(f"the address {text!r} has brackets around what is not IPv6")
    elif ":" in host:
        raise ValueError(f"the address {text!r} needs brackets around its IPv6 host: tcp:[::1]:0")
    if not (port.isascii() and port.isdecimal() and int(port) <= _LARGEST_PORT):
        raise ValueError(f"the address {text!r} needs a port of 0 to {_LARGEST_PORT}")
    if any(character.isspace() for character in host):
        raise ValueError(f"the address {text!r} has white space in its host")
    return TcpAddress(host, int(port))
