"""Answers that run ahead of their listeners, and for how far."""

from collections.abc import AsyncIterator

import anyio
import pytest
from anyio.lowlevel import checkpoint
from rhapsode_http import Limits, send_stream, send_whole
from rhapsode_http.testing import RawClient, connected, http_only, serving
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

GET = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: %s\r\n\r\n"
PIECE = b"x" * 65_536
PIECES = 256
MEBIBYTE = 1024 * 1024
SMALL_WINDOW = 128 * 1024
"""So that nearly all of an answer waits on our side of the socket."""


class Maker:
    """An app that makes 16 MiB as fast as it may."""

    def __init__(self, *, runs_ahead: bool) -> None:
        self._runs_ahead = runs_ahead
        self.made = 0
        self.done = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await http_only(self._answer)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_stream(send, [], self._pieces(), runs_ahead=self._runs_ahead)
        self.done.set()

    async def _pieces(self) -> AsyncIterator[bytes]:
        for _ in range(PIECES):
            self.made += 1
            await checkpoint()
            yield PIECE


async def answer_whole(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with as much, all of it at once."""
    await send_whole(send, [], PIECE * PIECES)


async def read_whole(client: RawClient) -> None:
    body = (await client.read_to_end()).partition(b"\r\n\r\n")[2]
    assert body.count(b"x") == PIECES * len(PIECE)
    assert body.endswith(b"0\r\n\r\n")


async def until_it_waits(maker: Maker) -> None:
    """Returns once the app has made nothing for as long as a thousand turns of the loop take."""
    idle, seen = 0, -1
    while idle < 1000:
        await checkpoint()
        idle, seen = (idle + 1 if maker.made == seen else 0), maker.made


async def test_an_answer_is_made_whole_before_its_listener_takes_any_of_it() -> None:
    maker = Maker(runs_ahead=True)
    with anyio.fail_after(20):
        async with serving(maker) as server:
            address = server.addresses[0]
            async with connected(address, receive_buffer_bytes=SMALL_WINDOW) as client:
                await client.send(GET % b"close")
                await maker.done.wait()
                await read_whole(client)


@pytest.mark.parametrize("runs_ahead", [True, False])
async def test_beyond_what_may_wait_it_goes_at_the_listeners_pace(runs_ahead: bool) -> None:
    maker = Maker(runs_ahead=runs_ahead)
    limits = Limits(ahead_bytes=8 * MEBIBYTE)
    with anyio.fail_after(20):
        async with serving(maker, limits=limits) as server:
            address = server.addresses[0]
            async with connected(address, receive_buffer_bytes=SMALL_WINDOW) as client:
                await client.send(GET % b"close")
                await client.read_until(b"\r\n\r\n")
                await until_it_waits(maker)
                assert not maker.done.is_set()
                # What the kernel holds of it comes on top.
                assert (maker.made * len(PIECE) > limits.ahead_bytes) is runs_ahead
                await client.read_to_end()
                assert maker.done.is_set()


async def test_one_that_is_whole_before_it_is_sent_keeps_no_other_from_running_ahead() -> None:
    maker = Maker(runs_ahead=True)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (http_only(answer_whole) if scope.get("path") == "/whole" else maker)(
            scope, receive, send
        )

    with anyio.fail_after(20):
        async with serving(app, limits=Limits(ahead_bytes=17 * MEBIBYTE)) as server:
            address = server.addresses[0]
            async with (
                connected(address, receive_buffer_bytes=SMALL_WINDOW) as slow,
                connected(address, receive_buffer_bytes=SMALL_WINDOW) as listener,
            ):
                await slow.send((GET % b"close").replace(b"GET /", b"GET /whole"))
                await slow.read_until(b"\r\n\r\n")
                await listener.send(GET % b"close")
                await maker.done.wait()
                assert await slow.read_to_end() == PIECE * PIECES


async def test_a_connection_that_is_kept_is_not_idle_while_its_listener_reads() -> None:
    limits = Limits(head_seconds=0.1, keep_alive_seconds=0.1)
    maker = Maker(runs_ahead=True)
    with anyio.fail_after(20):
        async with serving(maker, limits=limits) as server:
            address = server.addresses[0]
            async with connected(address, receive_buffer_bytes=SMALL_WINDOW) as client:
                await client.send(GET % b"keep-alive")
                await maker.done.wait()
                async with connected(address) as other:
                    assert await other.read_to_end() == b""  # it was idle for that long
                await read_whole(client)


async def test_one_that_had_to_wait_goes_on_as_soon_as_others_have_taken_theirs() -> None:
    first, second = Maker(runs_ahead=True), Maker(runs_ahead=True)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (first if scope.get("path") == "/" else second)(scope, receive, send)

    with anyio.fail_after(20):
        async with serving(app, limits=Limits(ahead_bytes=14 * MEBIBYTE)) as server:
            address = server.addresses[0]
            async with (
                connected(address, receive_buffer_bytes=SMALL_WINDOW) as reader,
                connected(address, receive_buffer_bytes=SMALL_WINDOW) as idle,
            ):
                await reader.send(GET % b"keep-alive")
                await first.done.wait()
                await idle.send((GET % b"close").replace(b"GET /", b"GET /second"))
                await until_it_waits(second)
                assert not second.done.is_set()
                await reader.read_until(b"\r\n0\r\n\r\n")
                await second.done.wait()  # though its own listener has taken nothing


async def test_a_half_sent_next_request_cuts_no_answer_that_is_still_being_taken() -> None:
    maker = Maker(runs_ahead=True)
    with anyio.fail_after(20):
        async with serving(maker, limits=Limits(head_seconds=0.1)) as server:
            address = server.addresses[0]
            async with connected(address, receive_buffer_bytes=SMALL_WINDOW) as client:
                await client.send((GET % b"keep-alive") + b"GET / HT")
                await maker.done.wait()
                async with connected(address) as other:
                    assert await other.read_to_end() == b""  # it said nothing for that long
                await read_whole(client)


async def test_a_listener_who_leaves_makes_room_for_others() -> None:
    maker = Maker(runs_ahead=True)
    with anyio.fail_after(20):
        async with serving(maker, limits=Limits(ahead_bytes=32 * MEBIBYTE)) as server:
            for _ in range(6):  # the third would wait for ever
                maker.done = anyio.Event()
                address = server.addresses[0]
                async with connected(address, receive_buffer_bytes=SMALL_WINDOW) as client:
                    await client.send(GET % b"keep-alive")
                    await maker.done.wait()
