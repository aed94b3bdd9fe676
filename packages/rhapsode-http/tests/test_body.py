"""Request bodies: counted, and read into shapes."""

from collections.abc import AsyncGenerator, Sequence

import httpx
import pytest
from rhapsode_contract.shape import Request as RequestShape
from rhapsode_http import (
    JSON_BODY_LIMIT_BYTES,
    UPLOAD_LIMIT_BYTES,
    exception_handlers,
    read_body,
    read_json,
)
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Scope

pytestmark = pytest.mark.anyio


class Greeting(RequestShape):
    """A small request."""

    name: str


async def endpoint(request: Request) -> Response:
    if request.url.path == "/json":
        return PlainTextResponse((await read_json(request, Greeting)).name)
    body = await read_body(request, limit_bytes=10, what="a thing")
    return PlainTextResponse(str(len(body)))


APP = Starlette(
    routes=[Route(path, endpoint, methods=["POST"]) for path in ("/json", "/raw")],
    exception_handlers=exception_handlers(),
)


async def post(
    path: str,
    content: bytes | AsyncGenerator[bytes],
    kind: str | None = None,
    encodings: Sequence[str] = (),
) -> httpx.Response:
    transport = httpx.ASGITransport(APP)
    async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
        headers = [("content-encoding", encoding) for encoding in encodings]
        if kind is not None:
            headers.append(("content-type", kind))
        return await client.post(path, content=content, headers=headers)


async def in_pieces(count: int, size: int = 1) -> AsyncGenerator[bytes]:
    for _ in range(count):
        yield b"x" * size


@pytest.mark.contract("d.limits.body")
async def test_a_body_is_counted_as_it_arrives() -> None:
    assert (await post("/raw", in_pieces(10))).text == "10"
    refused = await post("/raw", in_pieces(11))
    assert refused.status_code == 400
    assert "a thing" in refused.json()["error"]["message"]


async def test_a_body_that_declares_too_much_is_refused_unread() -> None:
    async def receive() -> Message:
        raise AssertionError("nothing is to be read")

    scope = {"type": "http", "method": "POST", "headers": [(b"content-length", b"11")]}
    with pytest.raises(Exception, match="a thing"):
        await read_body(Request(scope, receive), limit_bytes=10, what="a thing")


async def test_a_client_that_leaves_during_its_body_is_told_apart() -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    scope: Scope = {"type": "http", "method": "POST", "headers": []}
    with pytest.raises(ClientDisconnect):
        await read_body(Request(scope, receive), limit_bytes=10, what="a thing")


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"]
)
async def test_json_is_read_whatever_its_kind_is_called(kind: str) -> None:
    assert (await post("/json", b'{"name": "Ada"}', kind)).text == "Ada"


@pytest.mark.contract("d.codes.content-type")
@pytest.mark.parametrize("kind", [None, "text/plain", "application/jsonx", "x/a+json", "json"])
async def test_another_content_type_is_refused_by_name(kind: str | None) -> None:
    refused = await post("/json", b'{"name": "Ada"}', kind)
    assert refused.status_code == 400
    assert (kind or "missing") in refused.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"name": 1}', b'{"nom": "Ada"}'])
async def test_json_that_does_not_fit_is_refused(body: bytes) -> None:
    assert (await post("/json", body, "application/json")).status_code == 400


async def test_a_json_body_over_a_mebibyte_is_refused() -> None:
    name = b"x" * JSON_BODY_LIMIT_BYTES
    refused = await post("/json", b'{"name": "%s"}' % name, "application/json")
    assert refused.status_code == 400
    assert "1,048,576" in refused.json()["error"]["message"]


@pytest.mark.parametrize("encodings", [["gzip"], ["identity", "br"], ["identity, gzip"]])
async def test_an_encoded_body_is_refused_by_the_name_of_the_header(encodings: list[str]) -> None:
    for path in ("/json", "/raw"):
        refused = await post(path, b'{"name"', "application/json", encodings)
        assert refused.status_code == 400
        assert "Content-Encoding" in refused.json()["error"]["message"]
        assert encodings[-1] in refused.json()["error"]["message"]


@pytest.mark.parametrize("encoding", ["identity", "Identity", ""])
async def test_a_body_may_say_that_it_is_itself(encoding: str) -> None:
    answer = await post("/json", b'{"name": "Ada"}', "application/json", [encoding])
    assert answer.text == "Ada"


@pytest.mark.contract("7.create.upload")
def test_a_voice_upload_may_have_25_megabytes_and_no_more() -> None:
    assert UPLOAD_LIMIT_BYTES == 25 * 1000 * 1000
