"""Ids of requests, taken or minted, and said again."""

import re

import httpx
import pytest
from rhapsode_http import RequestIds, request_id
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(request_id.get() or "none")(scope, receive, send)


def client() -> httpx.AsyncClient:
    # Stacked, as when an app brings its own and a server adds one.
    transport = httpx.ASGITransport(RequestIds(RequestIds(app)))
    return httpx.AsyncClient(transport=transport, base_url="http://a")


@pytest.mark.contract("d.request-id.answered")
@pytest.mark.parametrize("offered", ["a", "A-z_0.9", "x" * 128])
async def test_a_plain_id_of_the_client_is_kept(offered: str) -> None:
    async with client() as http:
        response = await http.get("/", headers={"X-Request-Id": offered})
    assert response.headers.get_list("x-request-id") == [offered]
    assert response.text == offered
    assert request_id.get() is None


@pytest.mark.parametrize("offered", ["", "x" * 129, "a b", "a\tb", "é", 'a"b', "{}"])
async def test_any_other_id_is_replaced(offered: str) -> None:
    async with client() as http:
        response = await http.get("/", headers=[(b"X-Request-Id", offered.encode())])
    assert re.fullmatch("[0-9a-f]{32}", response.headers["x-request-id"])


async def test_a_request_without_an_id_gets_its_own() -> None:
    async with client() as http:
        first, second = (await http.get("/")).text, (await http.get("/")).text
    assert first != second
