"""How answers end: trailers, aborts that look like aborts, refusals that are heard."""

import logging

import anyio
import pytest
from rhapsode_contract import BadRequest
from rhapsode_http import StreamAborted, error_response, exception_handlers, send_stream
from rhapsode_http.testing import connected, serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio

GET = b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n"


async def trailing_app(scope: Scope, receive: Receive, send: Send) -> None:
    async def pieces():
        yield b"abc"

    if scope["type"] == "http":
        await send_stream(
            send,
            [(b"trailer", b"x-rhapsode-duration-ms")],
            pieces(),
            lambda: [(b"X-Rhapsode-Duration-Ms", b"7")],
        )


async def aborting_app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    sized = scope["path"] == "/sized"
    headers = [(b"content-length", b"100")] if sized else []
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"abc", "more_body": True})
    raise StreamAborted("the engine died")


async def refusing_app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await error_response(BadRequest("no"))(scope, receive, send)


async def curl(*arguments: str, body: bytes | None = None) -> tuple[int, bytes]:
    done = await anyio.run_process(["curl", "-s", *arguments], input=body, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("wish", [b"", b"TE: trailers\r\n"])
async def test_trailers_follow_every_chunked_answer_whatever_te_says(wish: bytes) -> None:
    with anyio.fail_after(5):
        async with serving(trailing_app) as server, connected(server.addresses[0]) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: a\r\n" + wish + b"\r\n")
            answer = await client.read_until(b"0\r\nx-rhapsode-duration-ms: 7\r\n\r\n")
            assert b"\r\n\r\n3\r\nabc\r\n0\r\n" in answer
            await client.send(GET % b"/again")
            assert (await client.read_until(b"\r\n")) == b"HTTP/1.1 200 OK\r\n"


async def test_the_answer_to_head_has_neither_body_nor_trailers() -> None:
    with anyio.fail_after(5):
        async with serving(trailing_app) as server, connected(server.addresses[0]) as client:
            await client.send(b"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert (await client.read_to_end()).endswith(b"\r\n\r\n")


async def test_an_http_1_0_answer_is_neither_chunked_nor_followed_by_trailers() -> None:
    with anyio.fail_after(5):
        async with serving(trailing_app) as server, connected(server.addresses[0]) as client:
            await client.send(b"GET / HTTP/1.0\r\n\r\n")
            answer = await client.read_to_end()
            assert answer.endswith(b"\r\n\r\nabc")
            assert b"transfer-encoding" not in answer
            assert b"trailer" not in answer


async def test_a_trailer_cannot_break_its_line() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def pieces():
            yield b"abc"

        await send_stream(send, [], pieces(), lambda: [(b"x-a", b"b\r\nx-c: d")])

    with anyio.fail_after(5):
        async with serving(app) as server, connected(server.addresses[0]) as client:
            await client.send(GET % b"/")
            assert (await client.read_to_end()).endswith(b"abc\r\n")


@pytest.mark.contract("6.abort.worker", "d.stream.abort")
@pytest.mark.parametrize("path", ["chunked", "sized"])
async def test_curl_calls_an_abort_a_partial_file(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with anyio.fail_after(10), caplog.at_level(logging.WARNING):
        async with serving(aborting_app) as server:
            code, body = await curl(f"http://{server.addresses[0]}/{path}".replace("tcp:", ""))
    assert (code, body) == (18, b"abc")
    assert [record.exc_info for record in caplog.records] == [None]


async def test_an_abort_through_starlette_is_one_quiet_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def endpoint(request: Request) -> Response:
        async def pieces():
            yield b"abc"
            raise StreamAborted("the engine died")

        return StreamingResponse(pieces())

    app = Starlette(routes=[Route("/", endpoint)], exception_handlers=exception_handlers())
    with anyio.fail_after(10), caplog.at_level(logging.WARNING):
        async with serving(app) as server, connected(server.addresses[0]) as client:
            await client.send(GET % b"/")
            assert (await client.read_to_end()).endswith(b"3\r\nabc\r\n")
    assert [record.exc_info for record in caplog.records] == [None]


async def test_an_abort_during_an_upload_ends_by_fin_too() -> None:
    with anyio.fail_after(5):
        async with serving(aborting_app) as server, connected(server.addresses[0]) as client:
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            await client.send(b"x" * 500_000)
            assert (await client.read_to_end()).endswith(b"3\r\nabc\r\n")


async def test_an_abort_of_an_http_1_0_body_is_a_reset() -> None:
    with anyio.fail_after(5):
        async with serving(aborting_app) as server, connected(server.addresses[0]) as client:
            await client.send(b"GET / HTTP/1.0\r\n\r\n")
            with pytest.raises(anyio.BrokenResourceError):
                await client.read_to_end()


@pytest.mark.parametrize("late", [RuntimeError("a bug"), None], ids=["raises", "returns too early"])
async def test_an_app_that_breaks_off_is_cut_and_logged(
    late: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"abc", "more_body": True})
            if late is not None:
                raise late

    with anyio.fail_after(5):
        async with serving(app) as server, connected(server.addresses[0]) as client:
            await client.send(GET % b"/")
            assert (await client.read_to_end()).endswith(b"3\r\nabc\r\n")
    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_an_answer_shorter_than_its_length_is_cut() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = [(b"content-length", b"5")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"abc"})

    with anyio.fail_after(5):
        async with serving(app) as server, connected(server.addresses[0]) as client:
            await client.send(GET % b"/")
            assert (await client.read_to_end()).endswith(b"\r\n\r\nabc")


@pytest.mark.contract("d.errors.everywhere")
async def test_an_app_that_fails_before_its_answer_gets_an_envelope() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/raise":
            raise RuntimeError("secret")

    with anyio.fail_after(5):
        async with serving(app) as server, connected(server.addresses[0]) as client:
            for path in (b"/raise", b"/return"):
                await client.send(GET % path)
                assert b" 500 " in await client.read_until(b"\r\n\r\n")
                body = await client.read_until(b"}}")
                assert b'"internal"' in body
                assert b"secret" not in body


@pytest.mark.contract("d.limits.refusal-read")
async def test_a_refusal_during_an_upload_is_always_heard() -> None:
    size = 8_000_000
    with anyio.fail_after(30):
        async with serving(refusing_app) as server:
            for _ in range(20):
                async with connected(server.addresses[0]) as client:
                    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size
                    await client.send(head)
                    await client.send(b"x" * size)
                    answer = await client.read_to_end()
                    assert answer.startswith(b"HTTP/1.1 400 ")
                    assert b"connection: close\r\n" in answer
                    assert answer.endswith(b"}}")


async def test_a_refusal_of_a_body_that_has_arrived_keeps_the_connection() -> None:
    with anyio.fail_after(5):
        async with serving(refusing_app) as server, connected(server.addresses[0]) as client:
            for _ in range(2):
                await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
                assert b"connection: close" not in await client.read_until(b"\r\n\r\n")
                await client.read_until(b"}}")


async def test_continue_is_said_only_when_the_body_is_wanted() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/read":
            message = await receive()
            await PlainTextResponse(message["body"])(scope, receive, send)
        else:
            await refusing_app(scope, receive, send)

    head = b"POST %s HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    with anyio.fail_after(5):
        async with serving(app) as server:
            async with connected(server.addresses[0]) as client:
                await client.send(head % b"/read")
                assert await client.read_until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
                await client.send(b"hi")
                assert b" 200 " in await client.read_until(b"\r\n\r\n")
            async with connected(server.addresses[0]) as client:
                await client.send(head % b"/refuse")
                assert (await client.read_until(b"\r\n")).startswith(b"HTTP/1.1 400 ")


@pytest.mark.contract("d.headers.request-trailers")
async def test_request_trailers_never_join_the_headers_a_guard_has_read() -> None:
    seen: list[list[bytes]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        message: Message = {"more_body": True}
        while message["more_body"]:
            message = await receive()
        seen.append([name for name, _ in scope["headers"]])
        await PlainTextResponse("ok")(scope, receive, send)

    request = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
    with anyio.fail_after(5):
        async with serving(app) as server, connected(server.addresses[0]) as client:
            await client.send(request + b"0\r\nAuthorization: Bearer forged\r\n\r\n")
            await client.read_until(b"ok")
    assert seen == [[b"host", b"transfer-encoding"]]


async def test_a_client_that_leaves_is_seen_at_once_even_with_a_request_queued_behind() -> None:
    gone = anyio.Event()
    began = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        began.set()
        await receive()
        assert (await receive())["type"] == "http.disconnect"
        gone.set()

    with anyio.fail_after(5):
        async with serving(app) as server:
            for queued in (b"", GET % b"/2"):
                gone, began = anyio.Event(), anyio.Event()
                async with connected(server.addresses[0]) as client:
                    await client.send((GET % b"/") + queued)
                    await began.wait()
                await gone.wait()
