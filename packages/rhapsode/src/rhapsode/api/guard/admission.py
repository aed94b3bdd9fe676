"""Whether a caller may manage this box: a decision on values."""

import hmac
from dataclasses import dataclass, field
from enum import Enum
from typing import Self
from urllib.parse import urlsplit

from rhapsode_contract.quoting import shown

from rhapsode.api.guard.addresses import are_all_loopback, is_loopback, is_own_host
from rhapsode.api.guard.origins import Headers, admitted_origin, values_of
from rhapsode.settings.model import ManagementSettings


class Standing(Enum):
    """What a caller is to the management routes."""

    LOCAL = "local"
    TOKEN = "token"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True)
class Verdict:
    """What a caller is, and why."""

    standing: Standing
    why: str
    """For a person. Says nothing of whether this box has a token."""


@dataclass(frozen=True)
class Rules:
    """What callers are judged by."""

    token: bytes | None = field(repr=False)
    """Admits from anywhere; None where none does."""

    origins: frozenset[bytes]
    """Origins whose pages may manage, besides this machine's own."""

    hosts: frozenset[str]
    """Names, in lower case, that a local caller may know this machine by."""

    @classmethod
    def of(cls, settings: ManagementSettings, machine: str) -> Self:
        """Returns the rules that follow from settings.

        Args:
            settings: An empty token is none.
            machine: This machine's name; its first label is a name of it as well.
        """
        token = settings.token.get_secret_value() if settings.token is not None else ""
        listed = (urlsplit(origin).hostname or "" for origin in settings.origins)
        names = {"localhost", machine.lower(), machine.lower().partition(".")[0], *listed}
        return cls(
            token=token.encode() or None,
            origins=frozenset(origin.encode() for origin in settings.origins),
            hosts=frozenset(names - {""}),
        )


def admit(peer: str | None, headers: Headers, rules: Rules) -> Verdict:
    """Judges a request to a management route by its sender and its headers alone.

    Args:
        peer: The address at the other end of the connection; None where that is not known.
        headers: All of them.
        rules: This box's.
    """
    headers = tuple(headers)
    origins = values_of(headers, b"origin")
    if origins and admitted_origin(headers, rules.origins) is None:
        return Verdict(
            Standing.FORBIDDEN,
            f"Origin: pages of {_shown(origins)} may not manage this server; those of this "
            "machine and of management.origins may",
        )
    doubt = _doubt(peer, headers, rules)
    if doubt is None:
        return Verdict(Standing.LOCAL, "the caller is on this machine")
    if _shows_token(headers, rules.token):
        return Verdict(Standing.TOKEN, "the caller has the token")
    return Verdict(Standing.FORBIDDEN, doubt)


def _doubt(peer: str | None, headers: Headers, rules: Rules) -> str | None:
    """Returns why a caller does not count as local, or None where it does."""
    if peer is None or not is_loopback(peer):
        return "management routes answer this machine, and callers that show its token"
    hops = values_of(headers, b"x-forwarded-for")
    if not are_all_loopback([hop.decode("latin-1") for hop in hops]):
        return (
            f"X-Forwarded-For: {_shown(hops)} is not this machine, and management routes answer "
            "that alone, and callers that show its token"
        )
    if values_of(headers, b"forwarded"):
        # The same header by its standard's name. Nobody who is local has a reason to send it.
        return "Forwarded: whoever is forwarded by a proxy has to show this server's token"
    hosts = values_of(headers, b"host")
    if len(hosts) != 1 or not is_own_host(hosts[0].decode("latin-1"), rules.hosts):
        # A page whose name was pointed at us since it was loaded sends a GET without an Origin.
        return (
            f"Host: {_shown(hosts)} is no name of this machine; call it by an IP address or as "
            "localhost, or show its token"
        )
    return None


def _shows_token(headers: Headers, token: bytes | None) -> bool:
    presented = values_of(headers, b"authorization")
    if token is None or len(presented) != 1:
        return False
    scheme, _, credentials = presented[0].strip(b" \t").partition(b" ")
    is_same = hmac.compare_digest(credentials.lstrip(b" "), token)
    return is_same and scheme.lower() == b"bearer"


def _shown(values: list[bytes]) -> str:
    return shown(b", ".join(values).decode("latin-1"))
