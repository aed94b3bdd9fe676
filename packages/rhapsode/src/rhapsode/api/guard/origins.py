"""Web pages, which count as where they came from and not as where they run."""

import re
from collections.abc import Iterable
from typing import Final

Headers = Iterable[tuple[bytes, bytes]]
"""Of a request, as ASGI has them: names in lower case, any of them more than once."""

_THIS_MACHINES: Final = re.compile(
    rb"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.ASCII
)


def values_of(headers: Headers, name: bytes) -> list[bytes]:
    """Returns the value of every header called `name`, in order."""
    return [value for key, value in headers if key == name]


def is_this_machines(origin: bytes) -> bool:
    """Says whether an origin is a page of this machine's own, on any port."""
    return _THIS_MACHINES.fullmatch(origin) is not None


def admitted_origin(headers: Headers, listed: frozenset[bytes]) -> bytes | None:
    """Returns the origin of the page that asks, if pages from there may manage this box.

    None for `null`, and for more than one: a browser sends one, and it names where it came from.
    """
    match values_of(headers, b"origin"):
        case [origin] if origin in listed or is_this_machines(origin):
            return origin
        case _:
            return None
