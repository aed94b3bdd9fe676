"""What a browser wants to hear before it lets a page of another origin read an answer (CORS)."""

import re
from typing import Final

from rhapsode_contract import DURATION_HEADER
from rhapsode_http import REQUEST_ID_HEADER
from starlette.responses import Response
from starlette.types import Message, Send

from rhapsode.api.guard.origins import Headers, values_of

_METHODS: Final = "GET, HEAD, POST, PATCH, DELETE"
_KEPT_SECONDS: Final = 600
"""How long a browser need not ask again."""

_EXPOSED: Final = ", ".join((REQUEST_ID_HEADER, DURATION_HEADER, "Retry-After")).encode()
_FIELD_NAMES: Final = re.compile(rb"[\w!#$%&'*+.^`|~, -]+", re.ASCII)

_VARY: Final = (b"vary", b"Origin")


def is_preflight(method: str, headers: Headers) -> bool:
    """Says whether a request with an `Origin` is a browser's question, before a page's request."""
    return method == "OPTIONS" and bool(values_of(headers, b"access-control-request-method"))


def preflight_answer(origin: bytes, headers: Headers) -> Response:
    """Returns the answer to a page that may ask whatever the routes then let it.

    Without credentials: a page sends the token as a header of its own making, never a cookie.
    """
    answer = Response(status_code=204)
    answer.headers.update(
        {
            "Access-Control-Allow-Origin": origin.decode("latin-1"),
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Max-Age": str(_KEPT_SECONDS),
            "Vary": "Origin, Access-Control-Request-Headers",
        }
    )
    wanted = b", ".join(values_of(headers, b"access-control-request-headers"))
    if _FIELD_NAMES.fullmatch(wanted):
        # By name, since `*` leaves Authorization out; and all of them, since clients that were
        # made for other servers send headers of their own.
        answer.headers["Access-Control-Allow-Headers"] = wanted.decode("ascii")
    return answer


def shared_with(origin: bytes | None, send: Send) -> Send:
    """Returns a `send` whose answers the page of `origin` may read; no page where None."""
    added: list[tuple[bytes, bytes]] = [_VARY]
    if origin is not None:
        added.append((b"access-control-allow-origin", origin))
        added.append((b"access-control-expose-headers", _EXPOSED))

    async def send_shared(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return send_shared
