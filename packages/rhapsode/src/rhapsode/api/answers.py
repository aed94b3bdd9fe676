"""JSON answers, and work that ends when its client leaves."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from rhapsode_contract import Shape
from rhapsode_http import ListenerLeft, while_connected
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Endpoint = Callable[[Scope, Receive, Send], Awaitable[None]]


def json_bytes(body: bytes) -> Response:
    """Answers with JSON that is written already."""
    return Response(body, media_type="application/json")


def json_shape(shape: Shape) -> Response:
    """Answers with one object."""
    return json_bytes(shape.to_json())


def json_list(shapes: Iterable[Shape]) -> Response:
    """Answers with a list of objects."""
    return json_bytes(b"[" + b",".join(shape.to_json() for shape in shapes) + b"]")


class ByMethod:
    """An ASGI endpoint that leads each method of one path to its own handler, so that who uses
    another hears of all of them.
    """

    def __init__(self, **handlers: Endpoint) -> None:
        """Args:
        handlers: By method, in capitals.
        """
        self._handlers = handlers
        self.methods = list(handlers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._handlers[method](scope, receive, send)


class WithBody:
    """An ASGI endpoint around a handler that reads the body."""

    def __init__(self, handler: Callable[[Request], Awaitable[Response]]) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._handler(Request(scope, receive))
        await answer(scope, receive, send)


class ForAListener:
    """An ASGI endpoint around a handler without a body: its client's leaving ends the work."""

    def __init__(self, handler: Callable[[Request], Awaitable[Response]]) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ListenerLeft), while_connected(scope):
            answer = await self._handler(Request(scope))
            await answer(scope, receive, send)
