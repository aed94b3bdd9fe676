"""Every error as an answer."""

import logging
from inspect import iscoroutinefunction

import httpx
import pytest
from rhapsode_contract import (
    ERRORS,
    BadRequest,
    ForeignError,
    Overloaded,
    RhapsodeError,
)
from rhapsode_http import error_response, exception_handlers
from rhapsode_http.testing import connected, serving
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

pytestmark = pytest.mark.anyio


def raising(error: Exception) -> Starlette:
    async def endpoint(request: Request) -> Response:
        raise error

    routes = [Route("/", endpoint), Route("/post", endpoint, methods=["POST"])]
    return Starlette(routes=routes, exception_handlers=exception_handlers())


async def get(app: Starlette, path: str = "/") -> httpx.Response:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
        return await client.get(path)


@pytest.mark.contract("6.errors.envelope", "6.errors.retryable", "d.errors.retry-after")
@pytest.mark.parametrize("kind", list(ERRORS.values()))
async def test_every_error_of_ours_is_an_envelope(kind: type[RhapsodeError]) -> None:
    response = await get(raising(kind("why")))
    assert response.status_code == kind.status
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert response.json() == {
        "error": {"code": kind.code.value, "message": "why", "retryable": kind.retryable}
    }
    assert ("retry-after" in response.headers) is kind.retryable


@pytest.mark.contract("d.errors.unknown-code")
@pytest.mark.parametrize("retryable", [True, False])
async def test_a_foreign_error_keeps_its_code_and_status(*, retryable: bool) -> None:
    response = await get(raising(ForeignError("new", "why", retryable=retryable, status=418)))
    assert response.status_code == 418
    assert response.json()["error"] == {"code": "new", "message": "why", "retryable": retryable}
    assert ("retry-after" in response.headers) is retryable


@pytest.mark.contract("d.errors.unknown-route")
async def test_an_unknown_route_is_named() -> None:
    response = await get(raising(BadRequest("")), "/nope")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "bad_request"
    assert "GET /nope" in response.json()["error"]["message"]


@pytest.mark.contract("d.errors.method")
async def test_a_wrong_method_says_which_are_right() -> None:
    response = await get(raising(BadRequest("")), "/post")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    assert response.json()["error"]["code"] == "bad_request"


@pytest.mark.parametrize(
    ("status", "ours", "code"),
    [(400, 400, "bad_request"), (413, 400, "bad_request"), (403, 403, "forbidden")]
    + [(503, 500, "internal")],
)
async def test_starlettes_own_refusals_become_ours(status: int, ours: int, code: str) -> None:
    response = await get(raising(HTTPException(status, "why")))
    assert (response.status_code, response.json()["error"]["code"]) == (ours, code)


async def test_a_bug_is_logged_once_and_told_by_its_kind_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        serving(raising(ZeroDivisionError("secret"))) as server,
        connected(server.addresses[0]) as client,
    ):
        for _ in range(2):  # the connection is not cut by what Starlette raises again
            await client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert b" 500 " in await client.read_until(b"\r\n\r\n")
            body = await client.read_until(b"}}")
            assert b"ZeroDivisionError" in body
            assert b"secret" not in body
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2


async def test_a_client_that_left_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    await get(raising(ClientDisconnect()))
    assert caplog.records == []


def test_headers_of_the_caller_are_added() -> None:
    response = error_response(Overloaded("busy"), {"Retry-After": "9", "X-A": "b"})
    assert response.headers["retry-after"] == "9"
    assert response.headers["x-a"] == "b"
    assert isinstance(response, Response)
    assert not isinstance(response, PlainTextResponse)


def test_no_answer_to_an_error_costs_a_thread() -> None:
    """Starlette runs a handler that is no coroutine on one."""
    assert all(iscoroutinefunction(handler) for handler in exception_handlers().values())
