"""Addresses and host names, as they come in headers: read strictly, anything odd is nobody's."""

import ipaddress
import re
from collections.abc import Sequence
from typing import Final

_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<bracketed>[^\[\]]*)\]|(?P<plain>[^\[\]:]*))(?::(?P<port>[0-9]{1,5}))?"
)
_LARGEST_PORT: Final = 65535


def is_loopback(text: str) -> bool:
    """Says whether `text` is a loopback address; IPv4 mapped to IPv6 is read as IPv4."""
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id is not None:
            return False
        ip = ip.ipv4_mapped or ip
    return ip.is_loopback


def are_all_loopback(lists: Sequence[str]) -> bool:
    """Says whether every address in some values of `X-Forwarded-For` is loopback.

    An address may have a port. What is no address, or is missing, is not loopback.
    """
    # From the end, where a proxy adds what it saw itself: the rest may be as long as a head can be.
    hops = ",".join(lists).split(",") if lists else []
    return all(_is_loopback_hop(hop.strip(" \t")) for hop in reversed(hops))


def is_own_host(authority: str, names: frozenset[str]) -> bool:
    """Says whether a `Host` is an IP literal or one of `names`, which are in lower case.

    Whoever's page a browser shows under such a host, its address was not drawn from somebody
    else's name server.
    """
    found = _split(authority)
    if found is None:
        return False
    if found["bracketed"] is not None:
        return _is_ip(found["bracketed"], ipaddress.IPv6Address)
    return found["plain"].lower() in names or _is_ip(found["plain"], ipaddress.IPv4Address)


def _is_loopback_hop(hop: str) -> bool:
    if hop.count(":") > 1 and not hop.startswith("["):
        return is_loopback(hop)
    found = _split(hop)
    if found is None:
        return False
    if found["bracketed"] is not None:
        return ":" in found["bracketed"] and is_loopback(found["bracketed"])
    return is_loopback(found["plain"])


def _split(authority: str) -> re.Match[str] | None:
    found = _AUTHORITY.fullmatch(authority)
    return found if found is not None and int(found["port"] or 0) <= _LARGEST_PORT else None


def _is_ip(text: str, family: type[ipaddress.IPv4Address | ipaddress.IPv6Address]) -> bool:
    try:
        family(text)
    except ValueError:
        return False
    return True
