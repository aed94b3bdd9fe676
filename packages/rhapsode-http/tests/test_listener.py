"""Work for a listener ends when they leave, and only then."""

import anyio
import pytest
from rhapsode_http import Client, ListenerLeft, send_whole, while_connected
from rhapsode_http.testing import connected, http_only, serving
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def test_a_client_that_leaves_cancels_the_work() -> None:
    begun, ended = anyio.Event(), anyio.Event()

    @http_only
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        with pytest.raises(ListenerLeft), while_connected(scope):
            begun.set()
            await anyio.sleep_forever()
        ended.set()

    with anyio.fail_after(5):
        async with serving(app) as server:
            async with connected(server.addresses[0]) as client:
                await client.send(REQUEST)
                await begun.wait()
            await ended.wait()


async def test_a_client_that_has_left_before_cancels_it_at_once() -> None:
    begun, left, ended = anyio.Event(), anyio.Event(), anyio.Event()

    @http_only
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        left.set()
        with pytest.raises(ListenerLeft), while_connected(scope):
            await anyio.sleep_forever()
        ended.set()

    with anyio.fail_after(5):
        async with serving(app) as server:
            async with connected(server.addresses[0]) as client:
                await client.send(REQUEST)
                await begun.wait()
            await left.wait()
            await ended.wait()


async def test_a_whole_answer_is_no_departure() -> None:
    outcomes: list[str] = []

    @http_only
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        with while_connected(scope):
            await send_whole(send, [(b"content-type", b"text/plain")], b"all of it")
            await anyio.lowlevel.checkpoint()
        outcomes.append("whole")

    with anyio.fail_after(5):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            for _ in range(3):
                response = await client.request("GET", "/")
                assert await response.read_all(limit_bytes=100) == b"all of it"
    assert outcomes == ["whole"] * 3


async def test_an_error_of_the_work_comes_out_as_it_is() -> None:
    caught: list[BaseException] = []

    @http_only
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with while_connected(scope):
                raise KeyError("mine")
        except KeyError as error:
            caught.append(error)
        await send_whole(send, [], b"")

    with anyio.fail_after(5):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            await (await client.request("GET", "/")).read_all(limit_bytes=100)
    assert len(caught) == 1
