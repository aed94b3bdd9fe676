"""The client, against our own server and against peers that misbehave byte by byte."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from rhapsode_http import (
    Client,
    StreamAborted,
    TcpAddress,
    UnixAddress,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTruncated,
    UpstreamUnreachable,
    beside,
    bind,
    send_stream,
)
from rhapsode_http.testing import serving
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Peer:
    """A scripted peer: what it does on each connection, and what it was sent."""

    def __init__(self, *scripts: Callable[[SocketStream], Awaitable[None]]) -> None:
        self._scripts = list(scripts)
        self.connections = 0
        self.ended = anyio.Event()

    async def handle(self, stream: SocketStream) -> None:
        script = self._scripts[min(self.connections, len(self._scripts) - 1)]
        self.connections += 1
        async with stream:
            try:
                await script(stream)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.ended.set()


@asynccontextmanager
async def peer_at(peer: Peer) -> AsyncGenerator[TcpAddress]:
    """Runs `peer` on a free port for the length of a block."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, beside(lambda: listener.serve(peer.handle)):
        yield TcpAddress("127.0.0.1", port)


def answering(*answers: bytes) -> Callable[[SocketStream], Awaitable[None]]:
    """Returns a script: one answer a request; then it closes."""

    async def script(stream: SocketStream) -> None:
        for answer in answers:
            await stream.receive()
            await stream.send(answer)

    return script


async def ask(address: TcpAddress) -> bytes:
    async with Client(address) as client, await client.request("GET", "/") as response:
        return await response.read_all(limit_bytes=1_000_000)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        body = await Request(scope, receive).body()
        headers = [[name.decode(), value.decode()] for name, value in scope["headers"]]
        text = json.dumps([scope["method"], scope["path"], headers, body.decode()])
        await PlainTextResponse(text)(scope, receive, send)


@pytest.mark.parametrize("kind", ["tcp", "unix"])
async def test_a_request_arrives_as_it_was_given(kind: str, tmp_path: Path) -> None:
    unix = UnixAddress(tmp_path / "s" / "a.sock")
    async with serving(echo, address=unix if kind == "unix" else None) as server:
        address = server.addresses[0]
        async with Client(address) as client:
            response = await client.request("POST", "/a%20b?c", [(b"x-a", b"b")], b"body")
            method, path, headers, body = json.loads(await response.read_all(limit_bytes=9999))
    host = "localhost" if isinstance(address, UnixAddress) else address.authority
    assert (method, path, body) == ("POST", "/a b", "body")
    expected = [["te", "trailers"], ["x-a", "b"], ["content-length", "4"]]
    assert headers == [["host", host], *expected]


async def test_headers_and_trailers_come_back() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def pieces() -> AsyncGenerator[bytes]:
            yield b"abc"

        if scope["type"] == "http":
            await send_stream(send, [(b"x-a", b"b")], pieces(), lambda: [(b"X-T", b"7")])

    async with serving(app) as server, Client(server.addresses[0]) as client:
        async with await client.request("GET", "/") as response:
            assert (response.status, response.header("X-A"), response.header("y")) == (
                200,
                "b",
                None,
            )
            assert [piece async for piece in response] == [b"abc"]
            assert response.trailers == [(b"x-t", b"7")]
            assert response.is_at_end
        head = await client.request("HEAD", "/")
        assert await head.read() == b""


@pytest.mark.contract("6.abort.worker")
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx-t: 1\r\n",
    ],
    ids=["sized", "chunked", "in the trailers"],
)
async def test_a_body_cut_short_is_never_a_success(answer: bytes) -> None:
    with anyio.fail_after(5):
        async with peer_at(Peer(answering(answer))) as address, Client(address) as client:
            response = await client.request("GET", "/")
            assert await response.read() == b"abc"
            for _ in range(2):
                with pytest.raises(UpstreamTruncated):
                    await response.read()


async def test_our_own_abort_is_seen_as_one() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def pieces() -> AsyncGenerator[bytes]:
            yield b"abc"
            raise StreamAborted("died")

        if scope["type"] == "http":
            await send_stream(send, [], pieces())

    async with serving(app) as server, Client(server.addresses[0]) as client:
        response = await client.request("GET", "/")
        with pytest.raises(UpstreamTruncated):
            await response.read_all(limit_bytes=99)


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nabc",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: a\r\n" * 10_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-A: a\r\n" * 20_000,
    ],
    ids=["not HTTP", "unframed", "upgrade", "head too long", "bad chunk", "trailers too long"],
)
async def test_what_is_no_answer_is_refused(answer: bytes) -> None:
    with anyio.fail_after(5):
        async with peer_at(Peer(answering(answer))) as address:
            with pytest.raises(UpstreamProtocolError):
                await ask(address)


async def test_an_interim_answer_is_passed_over() -> None:
    with anyio.fail_after(5):
        interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"
        async with peer_at(Peer(answering(interim + OK))) as address:
            assert await ask(address) == b"ok"


async def test_a_connection_is_used_again_until_it_is_old() -> None:
    peer = Peer(answering(OK, OK, OK))
    with anyio.fail_after(5):
        async with peer_at(peer) as address:
            async with Client(address) as client:
                for _ in range(3):
                    assert await (await client.request("GET", "/")).read() == b"ok"
            assert peer.connections == 1
            async with Client(address, idle_seconds=-1) as client:
                for _ in range(2):
                    assert await (await client.request("GET", "/")).read() == b"ok"
            assert peer.connections == 3


@pytest.mark.parametrize("extra", [OK, b"HTTP/1.1 204 No Content\r\n\r\n", b"\0"])
async def test_bytes_that_nobody_asked_for_end_the_connection(extra: bytes) -> None:
    peer = Peer(answering(OK + extra, OK), answering(OK))
    with anyio.fail_after(5):
        async with peer_at(peer) as address, Client(address) as client:
            for _ in range(2):
                assert await (await client.request("GET", "/")).read() == b"ok"
    assert peer.connections == 2


async def hang_up_on_the_second(stream: SocketStream) -> None:
    """Answers one request, takes another one, and closes."""
    await answering(OK)(stream)
    await stream.receive()


async def test_a_kept_connection_that_closes_is_retried_once() -> None:
    peer = Peer(hang_up_on_the_second, answering(OK))
    with anyio.fail_after(5):
        async with peer_at(peer) as address, Client(address) as client:
            for _ in range(2):
                assert await (await client.request("POST", "/", body=b"x")).read() == b"ok"
    assert peer.connections == 2


async def test_a_fresh_connection_that_closes_is_not_retried() -> None:
    peer = Peer(answering(b""))
    with anyio.fail_after(5):
        async with peer_at(peer) as address, Client(address) as client:
            with pytest.raises(UpstreamTruncated):
                await client.request("POST", "/", body=b"x")
    assert peer.connections == 1


async def test_nothing_is_retried_once_a_byte_of_an_answer_has_come() -> None:
    async def script(stream: SocketStream) -> None:
        await answering(OK)(stream)
        await answering(b"HTTP/1.1 2")(stream)

    peer = Peer(script)
    with anyio.fail_after(5):
        async with peer_at(peer) as address, Client(address) as client:
            await (await client.request("GET", "/")).read()
            with pytest.raises(UpstreamTruncated):
                await client.request("GET", "/")
    assert peer.connections == 1


async def pieces_of(*pieces: bytes) -> AsyncGenerator[bytes]:
    for piece in pieces:
        yield piece


async def test_a_body_that_is_read_once_is_not_sent_twice() -> None:
    peer = Peer(hang_up_on_the_second, answering(OK))
    with anyio.fail_after(5):
        async with peer_at(peer) as address, Client(address) as client:
            await (await client.request("GET", "/")).read()
            with pytest.raises(UpstreamTruncated):
                await client.request("POST", "/", body=pieces_of(b"x"))
    assert peer.connections == 1


@pytest.mark.parametrize("headers", [[], [(b"content-length", b"4")]], ids=["chunked", "sized"])
async def test_a_body_is_sent_as_it_is_made(headers: list[tuple[bytes, bytes]]) -> None:
    async with serving(echo) as server, Client(server.addresses[0]) as client:
        for _ in range(2):
            response = await client.request("POST", "/", headers, pieces_of(b"ab", b"", b"cd"))
            assert json.loads(await response.read_all(limit_bytes=9999))[3] == "abcd"


async def test_an_answer_that_comes_before_the_body_ends_the_sending() -> None:
    stopped = anyio.Event()

    async def endless() -> AsyncGenerator[bytes]:
        try:
            while True:
                yield b"x" * 65536
        finally:
            stopped.set()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await PlainTextResponse("no", 400)(scope, receive, send)

    with anyio.fail_after(10):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            response = await client.request("POST", "/", body=endless())
            assert (response.status, await response.read()) == (400, b"no")
            await stopped.wait()


async def test_an_upload_goes_at_the_pace_of_the_peer() -> None:
    made = 0

    async def endless() -> AsyncGenerator[bytes]:
        nonlocal made
        while True:
            made += 1
            yield b"x" * 65536

    # Nobody accepts or reads: what is taken is what the system's own buffers hold.
    with bind(TcpAddress("127.0.0.1", 0)) as bound:
        async with Client(bound.address) as client:
            with anyio.move_on_after(0.5):
                await client.request("POST", "/", body=endless())
    assert 0 < made < 1000


async def test_an_error_of_the_body_passes_through_and_closes_the_connection() -> None:
    async def failing() -> AsyncGenerator[bytes]:
        yield b"x"
        raise LookupError("gone")

    async def reading(stream: SocketStream) -> None:
        while True:
            await stream.receive()

    peer = Peer(reading)
    with anyio.fail_after(5):
        async with peer_at(peer) as address, Client(address) as client:
            with pytest.raises(LookupError):
                await client.request("POST", "/", body=failing())
            await peer.ended.wait()


async def test_a_download_goes_at_the_pace_of_the_reader() -> None:
    sent = 0

    async def fast(stream: SocketStream) -> None:
        nonlocal sent
        await stream.receive()
        await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        while True:
            await stream.send(b"x" * 65536)
            sent += 65536

    async with peer_at(Peer(fast)) as address, Client(address) as client:
        response = await client.request("GET", "/")
        with anyio.move_on_after(0.5):
            await anyio.sleep_forever()
        assert sent < 50_000_000
        assert len(await response.read()) < 1_000_000
        paused_at = sent
        while sent <= paused_at:
            await response.read()
        response.abort()


@asynccontextmanager
async def waiting_peer() -> AsyncGenerator[tuple[Client, Peer]]:
    """A peer that sends a head and a piece, and then waits."""

    async def script(stream: SocketStream) -> None:
        await answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")(stream)
        await stream.receive()

    peer = Peer(script)
    async with peer_at(peer) as address, Client(address) as client:
        yield client, peer


async def test_an_abort_wakes_its_reader_and_is_seen_by_the_peer() -> None:
    with anyio.fail_after(5):
        async with waiting_peer() as (client, peer), anyio.create_task_group() as tasks:
            response = await client.request("GET", "/")
            assert await response.read() == b"abc"
            is_reading = anyio.Event()

            async def read() -> None:
                is_reading.set()
                with pytest.raises(UpstreamTruncated):
                    await response.read()

            tasks.start_soon(read)
            await is_reading.wait()
            await anyio.lowlevel.checkpoint()
            response.abort()
            response.abort()
            await peer.ended.wait()


async def test_leaving_the_block_early_gives_the_answer_up() -> None:
    with anyio.fail_after(5):
        async with waiting_peer() as (client, peer):
            async with await client.request("GET", "/") as response:
                await response.read()
            await peer.ended.wait()


async def test_a_cancelled_request_closes_its_connection() -> None:
    taken = anyio.Event()

    async def silent(stream: SocketStream) -> None:
        await stream.receive()
        taken.set()
        await stream.receive()

    peer = Peer(silent)
    with anyio.fail_after(5):
        async with peer_at(peer) as address, Client(address) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.request, "GET", "/")
                await taken.wait()
                tasks.cancel_scope.cancel()
            await peer.ended.wait()


async def test_closing_the_client_ends_what_is_in_flight() -> None:
    with anyio.fail_after(5):
        async with waiting_peer() as (client, peer):
            response = await client.request("GET", "/")
            await response.read()
            await client.aclose()
            await client.aclose()
            with pytest.raises(UpstreamTruncated):
                await response.read()
            with pytest.raises(UpstreamUnreachable):
                await client.request("GET", "/")
            await peer.ended.wait()


async def test_a_peer_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    for address in (UnixAddress(tmp_path / "none"), TcpAddress("127.0.0.1", 1)):
        async with Client(address) as client:
            with pytest.raises(UpstreamUnreachable):
                await client.request("GET", "/")


@pytest.mark.parametrize(
    ("method", "target", "headers"),
    [
        ("GET /", "/", []),
        ("GET", "/a b", []),
        ("GET", "/a\r\nx: y", []),
        ("GET", "", []),
        ("GET", "/", [(b"x", b"a\r\ny: z")]),
        ("GET", "/", [(b"x: y", b"")]),
    ],
)
async def test_nothing_can_be_smuggled_into_a_head(
    method: str, target: str, headers: list[tuple[bytes, bytes]]
) -> None:
    async with Client(TcpAddress("127.0.0.1", 1)) as client:
        with pytest.raises(ValueError):
            await client.request(method, target, headers)


async def test_a_body_longer_than_is_wanted_is_given_up() -> None:
    with anyio.fail_after(5):
        async with serving(echo) as server, Client(server.addresses[0]) as client:
            response = await client.request("POST", "/", body=b"x" * 1000)
            with pytest.raises(UpstreamError, match="longer"):
                await response.read_all(limit_bytes=100)
