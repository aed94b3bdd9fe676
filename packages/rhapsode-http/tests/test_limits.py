"""What a connection may cost, and what happens to one that costs more."""

import json
import os

import anyio
import pytest
from rhapsode_http import Client, Limits
from rhapsode_http.testing import RawClient, connected, serving
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

GET = b"GET / HTTP/1.1\r\nHost: a\r\n"


async def reading_app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        body = await Request(scope, receive).body()
        await PlainTextResponse(str(len(body)))(scope, receive, send)


class Endless:
    """An app that sends until its client is gone."""

    def __init__(self) -> None:
        self.ended = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._fill, send)
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()
        self.ended.set()

    async def _fill(self, send: Send) -> None:
        while True:
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})


async def refused(client: RawClient) -> str:
    """Reads an envelope of a connection that ends with it, and returns its message."""
    head = await client.read_until(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    for line in (b"connection: close", b"content-type: application/json", b"x-request-id: "):
        assert line in head.lower()
    error = json.loads(await client.read_to_end())["error"]
    assert error["code"] == "bad_request"
    assert error["retryable"] is False
    return error["message"]


@pytest.mark.contract("d.limits.head")
async def test_a_head_may_be_64_kib_and_no_longer() -> None:
    room = 64 * 1024 - len(GET) - len(b"X-A: \r\n\r\n")
    with anyio.fail_after(10):
        async with serving(reading_app) as server:
            async with connected(server.addresses[0]) as client:
                await client.send(GET + b"X-A: " + b"a" * room + b"\r\n\r\n")
                assert b" 200 " in await client.read_until(b"\r\n\r\n")
            async with connected(server.addresses[0]) as client:
                await client.send(GET + b"X-A: " + b"a" * (room + 1) + b"\r\n\r\n")
                assert "65,536 bytes" in await refused(client)


async def test_an_endless_head_is_refused_and_the_refusal_heard() -> None:
    with anyio.fail_after(10):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            await client.send(GET + b"X-A: a\r\n" * 250_000)
            assert "head" in await refused(client)


@pytest.mark.parametrize("noise", [b"X-A: a\r\n", b"\r\n"], ids=["trailers", "empty lines"])
async def test_bytes_that_are_no_body_are_counted_wherever_they_come(noise: bytes) -> None:
    start = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    with anyio.fail_after(10):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            await client.send((start if noise.startswith(b"X") else b"") + noise * 70_000)
            assert (await client.read_until(b"\r\n")).startswith((b"HTTP/1.1 400", b"HTTP/1.1 200"))
            await client.read_to_end()


async def test_a_large_body_is_not_taken_for_a_large_head() -> None:
    with anyio.fail_after(10):
        async with serving(reading_app) as server, Client(server.addresses[0]) as client:
            response = await client.request("POST", "/", body=b"x" * 5_000_000)
            assert await response.read() == b"5000000"


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
        GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
)
@pytest.mark.contract("d.errors.everywhere")
async def test_what_is_not_http_is_answered_with_an_envelope(garbage: bytes) -> None:
    with anyio.fail_after(5):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            await client.send(garbage)
            await refused(client)


@pytest.mark.contract("d.headers.host")
@pytest.mark.parametrize(
    "fields", [b"", b"Host: a\r\nHost: a\r\n", b"Host: a\r\nX-A: a\r\nhost: b\r\n"]
)
async def test_a_request_names_its_host_once(fields: bytes) -> None:
    with anyio.fail_after(5):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            await client.send(b"POST / HTTP/1.1\r\n" + fields + b"Content-Length: 2\r\n\r\nhi")
            assert (await refused(client)).startswith("Host: ")


@pytest.mark.contract("d.headers.host")
@pytest.mark.parametrize("fields", [b"", b"Connection: Upgrade\r\nUpgrade: h2c\r\n"])
async def test_http_1_0_knows_no_host(fields: bytes) -> None:
    with anyio.fail_after(5):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            await client.send(b"GET / HTTP/1.0\r\n" + fields + b"\r\n")
            assert (await client.read_to_end()).startswith(b"HTTP/1.1 200 OK\r\n")


async def test_a_request_without_a_host_behind_another_does_not_spoil_its_answer() -> None:
    with anyio.fail_after(5):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            await client.send(GET + b"\r\nGET / HTTP/1.1\r\n\r\n")
            answer = await client.read_to_end()
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.count(b"HTTP/1.1") == 1


async def test_a_malformed_body_is_refused_where_no_answer_has_begun() -> None:
    with anyio.fail_after(5):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz")
            await refused(client)


async def test_garbage_behind_a_request_does_not_spoil_its_answer() -> None:
    with anyio.fail_after(5):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            await client.send(GET + b"\r\n" + b"\x00\x01\x02 garbage")
            answer = await client.read_to_end()
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.count(b"HTTP/1.1") == 1


async def test_a_wish_for_http_2_is_ignored_and_the_body_read() -> None:
    upgrade = b"Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    with anyio.fail_after(5):
        async with serving(reading_app) as server, connected(server.addresses[0]) as client:
            for _ in range(2):
                await client.send(b"POST / HTTP/1.1\r\n" + upgrade + b"Content-Length: 4\r\n\r\nab")
                await client.send(b"cd")
                assert b" 200 " in await client.read_until(b"\r\n\r\n")
                assert await client.read_until(b"4") == b"4"


@pytest.mark.contract("d.limits.slow-head")
@pytest.mark.parametrize("start", [b"", b"GET / HT", GET], ids=["nothing", "a line", "a header"])
async def test_a_head_that_is_not_whole_in_time_is_dropped(start: bytes) -> None:
    with anyio.fail_after(5):
        async with (
            serving(reading_app, limits=Limits(head_seconds=0.1)) as server,
            connected(server.addresses[0]) as client,
        ):
            if start:
                await client.send(start)
            with pytest.raises((anyio.BrokenResourceError, anyio.EndOfStream)):
                await client.read_until(b"\r\n")


@pytest.mark.contract("d.limits.silent-body")
async def test_a_body_that_falls_silent_is_dropped() -> None:
    with anyio.fail_after(5):
        async with (
            serving(reading_app, limits=Limits(body_silence_seconds=0.1)) as server,
            connected(server.addresses[0]) as client,
        ):
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
            with pytest.raises((anyio.BrokenResourceError, anyio.EndOfStream)):
                await client.read_until(b"\r\n")


async def test_an_idle_connection_is_closed_after_its_time() -> None:
    with anyio.fail_after(5):
        async with (
            serving(reading_app, limits=Limits(keep_alive_seconds=0.1)) as server,
            connected(server.addresses[0]) as client,
        ):
            await client.send(GET + b"\r\n")
            assert (await client.read_to_end()).endswith(b"0")


@pytest.mark.contract("d.deadlines.slow-client")
async def test_a_client_that_reads_nothing_is_dropped() -> None:
    app = Endless()
    with anyio.fail_after(10):
        async with (
            serving(app, limits=Limits(write_stall_seconds=0.2)) as server,
            connected(server.addresses[0], receive_buffer_bytes=4096) as client,
        ):
            await client.send(GET + b"\r\n")
            await app.ended.wait()


@pytest.mark.contract("d.headers.proxy")
async def test_a_stranger_cannot_name_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await JSONResponse([scope["client"][0], scope["scheme"]])(scope, receive, send)

    monkeypatch.setitem(os.environ, "FORWARDED_ALLOW_IPS", "*")
    forged = [(b"x-forwarded-for", b"203.0.113.9"), (b"x-forwarded-proto", b"https")]
    with anyio.fail_after(5):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            response = await client.request("GET", "/", forged)
            assert json.loads(await response.read()) == ["127.0.0.1", "http"]
            assert response.header("server") is None
