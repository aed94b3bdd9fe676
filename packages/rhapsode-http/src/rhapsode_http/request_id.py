"""The id that ties an answer to its log lines, in the core and in the worker behind it."""

import re
import uuid
from contextvars import ContextVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID_HEADER = "X-Request-Id"

request_id: ContextVar[str | None] = ContextVar("rhapsode_request_id", default=None)
"""The id of the request that this task serves, or None outside of one."""

_HEADER = REQUEST_ID_HEADER.lower().encode()
_SCOPE_KEY = "rhapsode.request_id"
_ACCEPTABLE = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)


class RequestIds:
    """ASGI middleware: every request has an id, and every answer says it.

    A client's own id is taken where it is plain enough to be logged, else one is minted. Where
    two of these are stacked the outer one decides, so `Server` can hold one around any app.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _SCOPE_KEY in scope:
            await self._app(scope, receive, send)
            return
        chosen = _offered(scope) or mint_request_id()
        scope[_SCOPE_KEY] = chosen

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [pair for pair in message.get("headers", ()) if pair[0].lower() != _HEADER]
                message = {**message, "headers": [*others, (_HEADER, chosen.encode())]}
            await send(message)

        token = request_id.set(chosen)
        try:
            await self._app(scope, receive, send_with_id)
        finally:
            request_id.reset(token)


def mint_request_id() -> str:
    """Returns a new id: 32 hexadecimal digits."""
    return uuid.uuid4().hex


def id_of(scope: Scope) -> str:
    """Returns the id of a request; a new one where it has none yet."""
    return scope.get(_SCOPE_KEY) or mint_request_id()


def _offered(scope: Scope) -> str | None:
    """Returns the client's own id, where it sent exactly one and that is acceptable."""
    values = [value for name, value in scope["headers"] if name == _HEADER]
    if len(values) != 1:
        return None
    offered = values[0].decode("latin-1")
    return offered if _ACCEPTABLE.fullmatch(offered) else None
