"""The life of a server: start, drain, close, and what its clients see of each."""

import json
import os
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path

import anyio
import pytest
from rhapsode_http import (
    Client,
    Limits,
    Server,
    StartupFailed,
    TcpAddress,
    UnixAddress,
    UpstreamUnreachable,
    bind,
    request_id,
)
from rhapsode_http.testing import connected, serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

LEFT_BEHIND: ContextVar[str] = ContextVar("left_behind", default="nothing")


class Work:
    """An app whose POST waits until it is told to finish."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.may_finish = anyio.Event()
        self.is_cancelled = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] == "POST":
            self.begun.set()
            try:
                await self.may_finish.wait()
            except BaseException:
                self.is_cancelled = True
                raise
        await PlainTextResponse("done")(scope, receive, send)


@pytest.mark.contract("2.stop.refuses", "2.stop.finishes", "d.drain.reads", "6.errors.overloaded")
async def test_a_drain_finishes_work_answers_reads_and_refuses_the_rest() -> None:
    app = Work()
    server = Server(app, bind(TcpAddress("127.0.0.1", 0)))
    answers: list[bytes] = []
    with anyio.fail_after(10):
        async with Client(server.addresses[0]) as client, anyio.create_task_group() as tasks:
            await tasks.start(server.serve)

            async def work() -> None:
                response = await client.request("POST", "/")
                answers.append(await response.read())

            tasks.start_soon(work)
            await app.begun.wait()
            assert server.in_flight == 1
            server.drain()
            server.drain()
            await server.drain_begun()
            assert server.is_draining
            read = await client.request("GET", "/")
            assert (read.status, await read.read()) == (200, b"done")
            refused = await client.request("POST", "/")
            assert refused.status == 429
            assert refused.header("retry-after") == "1"
            assert refused.header("connection") == "close"
            assert json.loads(await refused.read())["error"]["code"] == "overloaded"
            app.may_finish.set()
        assert answers == [b"done"]
        with pytest.raises(UpstreamUnreachable):
            await Client(server.addresses[0]).request("GET", "/")


async def test_an_idle_server_drains_at_once_and_closes_idle_connections() -> None:
    server = Server(Work(), bind(TcpAddress("127.0.0.1", 0)))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            await tasks.start(server.serve)
            async with connected(server.addresses[0]) as client:
                await client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                await client.read_until(b"done")
                server.drain()
                assert await client.read_to_end() == b""


async def test_a_drain_does_not_wait_for_an_endless_read() -> None:
    ended = anyio.Event()

    async def events(request: Request) -> Response:
        async def pieces() -> AsyncGenerator[bytes]:
            try:
                yield b"x"
                await anyio.sleep_forever()
            finally:
                ended.set()

        return StreamingResponse(pieces())

    app = Starlette(routes=[Route("/", events)])
    bound = bind(TcpAddress("127.0.0.1", 0))
    server = Server(app, bound, limits=Limits(drain_grace_seconds=0.05))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            await tasks.start(server.serve)
            async with connected(server.addresses[0]) as client:
                await client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                await client.read_until(b"1\r\nx\r\n")
                server.drain()
                assert await client.read_to_end() == b""
        await ended.wait()


async def test_a_drained_answer_is_written_whole_to_a_slow_reader() -> None:
    size = 20_000_000

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await PlainTextResponse(b"x" * size)(scope, receive, send)

    server = Server(app, bind(TcpAddress("127.0.0.1", 0)))
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            await tasks.start(server.serve)
            async with connected(server.addresses[0], receive_buffer_bytes=65536) as client:
                await client.send(b"POST / HTTP/1.1\r\nHost: a\r\n\r\n")
                await client.read_until(b"\r\n\r\n")
                server.drain()
                assert len(await client.read_to_end()) == size


@pytest.mark.parametrize("how", ["close", "cancel"])
async def test_closing_and_cancelling_end_everything_at_once(how: str, tmp_path: Path) -> None:
    app = Work()
    address = UnixAddress(tmp_path / "s" / "a.sock")
    server = Server(app, bind(address))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            await tasks.start(server.serve)
            async with connected(address) as client:
                await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
                await app.begun.wait()
                if how == "close":
                    server.close()
                else:
                    tasks.cancel_scope.cancel()
                answer = b""
                with anyio.CancelScope(shield=True):
                    answer = await client.read_to_end()
                assert answer.startswith(b"HTTP/1.1 429 " if how == "close" else b"")
                assert (b'"overloaded"' in answer) is (how == "close")
                assert (b"\r\nx-request-id: " in answer) is (how == "close")
                assert bool(answer) is (how == "close")
    assert app.is_cancelled
    assert not address.path.exists()


async def test_a_unix_socket_is_served_private(tmp_path: Path) -> None:
    address = UnixAddress(tmp_path / "s" / "a.sock")
    with anyio.fail_after(5):
        async with serving(Work(), address=address), Client(address) as client:
            assert stat.S_IMODE(os.stat(address.path).st_mode) == 0o600
            assert await (await client.request("GET", "/")).read() == b"done"
    assert not address.path.exists()


async def test_the_any_address_answers_ipv4_as_ipv4() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await PlainTextResponse(scope["client"][0])(scope, receive, send)

    with anyio.fail_after(5):
        async with serving(app, address=TcpAddress("::", 0)) as server:
            bound = server.addresses[0]
            assert isinstance(bound, TcpAddress)
            for host in ("127.0.0.1", "::1"):
                async with Client(TcpAddress(host, bound.port)) as client:
                    assert await (await client.request("GET", "/")).read() == host.encode()


async def test_the_lifespan_surrounds_the_serving_and_shares_its_state() -> None:
    events: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[dict[str, str]]:
        events.append("start")
        async with anyio.create_task_group():
            yield {"word": "hi"}
        events.append("stop")

    async def endpoint(request: Request) -> Response:
        events.append(request.state.word)
        return PlainTextResponse("ok")

    app = Starlette(routes=[Route("/", endpoint)], lifespan=lifespan)
    with anyio.fail_after(5):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            await (await client.request("GET", "/")).read()
    assert events == ["start", "hi", "stop"]


async def test_an_app_that_cannot_start_says_why_and_frees_the_address() -> None:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        raise OSError("no such disk")
        yield

    bound = bind(TcpAddress("127.0.0.1", 0))
    with anyio.fail_after(5), pytest.raises(StartupFailed, match="no such disk"):
        await Server(Starlette(lifespan=lifespan), bound).serve()
    bind(bound.address).close()


async def test_a_request_queued_behind_another_inherits_nothing_from_it() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            said = f"{request_id.get()} {LEFT_BEHIND.get()};"
            LEFT_BEHIND.set("something")
            await PlainTextResponse(said)(scope, receive, send)

    head = b"GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: %s\r\n%s\r\n"
    with anyio.fail_after(5):
        async with serving(app) as server, connected(server.addresses[0]) as client:
            await client.send(head % (b"one", b"") + head % (b"two", b"Connection: close\r\n"))
            answers = await client.read_to_end()
    assert answers.count(b"x-request-id: one") == answers.count(b"x-request-id: two") == 1
    assert b"one nothing;" in answers
    assert answers.endswith(b"two nothing;")
