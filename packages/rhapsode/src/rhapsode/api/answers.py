"""JSON answers, and work that ends when its client leaves."""

from collections.abc import Awaitable, Callable, Iterable

from rhapsode_contract import Shape
from rhapsode_http import ListenerLeft, while_connected
from starlette.requests import Request
from starlette.responses import Response

Handler = Callable[[Request], Awaitable[Response]]


def json_bytes(body: bytes) -> Response:
    """Answers with JSON that is written already."""
    return Response(body, media_type="application/json")


def json_shape(shape: Shape) -> Response:
    """Answers with one object."""
    return json_bytes(shape.to_json())


def json_list(shapes: Iterable[Shape]) -> Response:
    """Answers with a list of objects."""
    return json_bytes(b"[" + b",".join(shape.to_json() for shape in shapes) + b"]")


def for_a_listener(handler: Handler) -> Handler:
    """Makes a handler of a request without a body end when its client leaves."""

    async def handle(request: Request) -> Response:
        try:
            async with while_connected(request.receive):
                return await handler(request)
        except ListenerLeft:
            return Response()  # nobody is there to be sent it
        raise AssertionError("unreachable: the block returns or raises")

    return handle
