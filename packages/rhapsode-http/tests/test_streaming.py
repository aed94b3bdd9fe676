"""Bodies sent as they are made."""

from collections.abc import AsyncIterator

import anyio
import pytest
from rhapsode_http import Client, StreamAborted, UpstreamTruncated, send_stream
from rhapsode_http.testing import http_only, serving
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

HEADERS = [(b"content-type", b"audio/wav"), (b"trailer", b"X-Length")]


async def test_pieces_and_then_the_trailers_of_what_was_sent() -> None:
    sent = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        for piece in (b"one", b"", b"three"):
            sent += len(piece)
            yield piece

    @http_only
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        trailers = lambda: [(b"x-length", str(sent).encode())]  # noqa: E731  # one line, as callers write it
        await send_stream(send, HEADERS, pieces(), trailers)

    with anyio.fail_after(5):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            response = await client.request("GET", "/")
            assert await response.read_all(limit_bytes=100) == b"onethree"
            assert (b"x-length", b"8") in response.trailers


async def test_a_piece_arrives_before_the_next_is_made() -> None:
    first_read = anyio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        await first_read.wait()
        yield b"two"

    @http_only
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send_stream(send, HEADERS, pieces())

    with anyio.fail_after(5):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            response = await client.request("GET", "/")
            assert await response.read() == b"one"
            first_read.set()
            assert await response.read_all(limit_bytes=100) == b"two"


async def test_pieces_that_fail_leave_a_body_that_is_seen_to_be_cut() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        raise StreamAborted("the rest is missing")

    @http_only
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send_stream(send, HEADERS, pieces())

    with anyio.fail_after(5):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            response = await client.request("GET", "/")
            with pytest.raises(UpstreamTruncated):
                await response.read_all(limit_bytes=100)
