"""The guard of a serving core, over real sockets and by clients of every manner."""

import json
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from pydantic import SecretStr
from rhapsode.api.guard.guard import guarded
from rhapsode.app import open_core
from rhapsode.settings.file import load_settings
from rhapsode.settings.folders import Folders
from rhapsode.settings.loaded import LoadedSettings
from rhapsode.settings.model import ManagementSettings
from rhapsode_http import TcpAddress
from rhapsode_http.testing import RawClient, connected, http_only, serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

pytestmark = pytest.mark.anyio

LISTED: Final = "https://page.example"
TOKEN: Final = ManagementSettings(token=SecretStr("s3cret"), origins=(LISTED,))
NO_TOKEN: Final = ManagementSettings()

BY_PROXY: Final = "X-Forwarded-For: 203.0.113.9"
SECRET: Final = "Authorization: Bearer s3cret"
UNLOAD: Final = "POST /engines/nobody/unload"

ADMITTED: Final = (404, "unknown_engine")
"""What the route answers to whom the guard lets pass, since this core has no engines."""

FORBIDDEN: Final = (403, "forbidden")


def own_address(family: socket.AddressFamily, outside: str) -> str:
    """Returns an address of this machine that is not loopback. Sends nothing."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((outside, 9))
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return probe.getsockname()[0]


@asynccontextmanager
async def core(
    folder: Path, settings: ManagementSettings, host: str = "127.0.0.1"
) -> AsyncGenerator[int]:
    """Serves a core without engines for the length of a block; gives its port."""
    folders = Folders(folder, folder, folder / "s", None)
    whole = load_settings(None, folders).settings.model_copy(update={"management": settings})
    loaded = LoadedSettings.of(whole)
    with anyio.fail_after(20):
        async with (
            open_core(loaded, environ=os.environ, python=sys.executable) as opened,
            serving(opened.app, address=TcpAddress(host, 0)) as server,
        ):
            address = server.addresses[0]
            assert isinstance(address, TcpAddress)
            yield address.port


def head(request: str, *lines: str) -> bytes:
    """Returns a request's head; its `Host` is localhost unless `lines` have one."""
    is_named = any(line.startswith("Host:") for line in lines)
    named = lines if is_named else ("Host: localhost:8080", *lines)
    return "\r\n".join([f"{request} HTTP/1.1", *named, "\r\n"]).encode("latin-1")


async def answer_of(client: RawClient) -> tuple[int, dict[str, Any]]:
    """Reads an answer that says its length, and no more."""
    lines = (await client.read_until(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
    body = await client.read_until(b"}}") if length else b"{}"
    return int(lines[0].split()[1]), json.loads(body)


async def ask(port: int, *request: str, host: str = "127.0.0.1") -> tuple[int, str]:
    """Returns the status of a request without a body, and the code of its error."""
    async with connected(TcpAddress(host, port)) as client:
        await client.send(head(request[0], "Content-Length: 0", *request[1:]))
        status, body = await answer_of(client)
        return status, body["error"]["code"]


# --- Where callers are --------------------------------------------------------------------------


@pytest.mark.contract("10.guard.local")
@pytest.mark.parametrize(
    ("listens", "calls"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "127.0.0.1"), ("::", "::1")],
)
@pytest.mark.parametrize("settings", [TOKEN, NO_TOKEN], ids=["token", "no token"])
async def test_a_caller_on_loopback_may_manage_on_either_family(
    short_path: Path, listens: str, calls: str, settings: ManagementSettings
) -> None:
    async with core(short_path, settings, listens) as port:
        assert await ask(port, UNLOAD, host=calls) == ADMITTED
        assert await ask(port, UNLOAD, BY_PROXY, host=calls) == FORBIDDEN


@pytest.mark.contract("10.guard.stranger", "10.guard.token", "10.guard.forwarded-distrusts")
@pytest.mark.parametrize(
    ("family", "outside"), [(socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")]
)
async def test_a_caller_of_another_address_may_manage_with_the_token_alone(
    short_path: Path, family: socket.AddressFamily, outside: str
) -> None:
    host = own_address(family, outside)
    async with core(short_path, TOKEN, "::") as port:
        assert await ask(port, UNLOAD, host=host) == FORBIDDEN
        assert await ask(port, UNLOAD, "X-Forwarded-For: 127.0.0.1", host=host) == FORBIDDEN
        assert await ask(port, UNLOAD, SECRET, host=host) == ADMITTED
        assert await ask(port, "GET /nope", host=host) == (404, "bad_request")


@pytest.mark.contract("10.guard.proxy-variables")
async def test_no_variable_makes_a_stranger_local(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    host = own_address(socket.AF_INET, "192.0.2.1")
    async with core(short_path, NO_TOKEN, "::") as port:
        assert await ask(port, UNLOAD, "X-Forwarded-For: 127.0.0.1", host=host) == FORBIDDEN
        assert await ask(port, UNLOAD, "X-Forwarded-For: 127.0.0.1") == ADMITTED


# --- What they send -----------------------------------------------------------------------------


@pytest.mark.contract("10.guard.forwarded", "10.guard.origin-foreign", "10.guard.host")
@pytest.mark.parametrize(
    "lines",
    [
        (BY_PROXY,),
        ("X-Forwarded-For: 127.0.0.1", BY_PROXY),
        (BY_PROXY, "X-Forwarded-For: 127.0.0.1"),
        ("x-forwarded-for: 127.0.0.1, 203.0.113.9",),
        ("X-FORWARDED-FOR: ",),
        ("Forwarded: for=127.0.0.1",),
        ("Origin: https://evil.example",),
        ("Origin: null",),
        ("Origin: http://localhost", "Origin: https://evil.example"),
        ("Origin: https://evil.example", "Origin: http://localhost"),
        ("Origin: https://evil.example", SECRET),
        ("Host: evil.example",),
        ("Host: evil.example:8080", "Origin: http://localhost"),
        (BY_PROXY, "Authorization: Bearer wrong"),
        (BY_PROXY, SECRET, SECRET),
        (BY_PROXY, "Authorization: Bearer wrong", SECRET),
        (BY_PROXY, "Proxy-Authorization: Bearer s3cret"),
        (BY_PROXY, "Authorization : Bearer s3cret"),
        ("Content-Type: text/plain", "Origin: https://evil.example"),
    ],
)
async def test_forged_headers_gain_nothing(short_path: Path, lines: tuple[str, ...]) -> None:
    async with core(short_path, TOKEN) as port:
        status, code = await ask(port, UNLOAD, *lines)
        # A head that cannot be read as one is not even judged.
        assert (status, code) in (FORBIDDEN, (400, "bad_request"))
        assert (status == 400) is any(" :" in line for line in lines)


@pytest.mark.contract("10.guard.token")
async def test_a_proxy_here_that_presents_the_token_is_admitted_for_its_clients(
    short_path: Path,
) -> None:
    async with core(short_path, TOKEN) as port:
        assert await ask(port, UNLOAD, BY_PROXY, SECRET) == ADMITTED
        assert await ask(port, UNLOAD, BY_PROXY, SECRET, f"Origin: {LISTED}") == ADMITTED


async def test_a_request_with_two_hosts_is_none(short_path: Path) -> None:
    async with core(short_path, TOKEN) as port:
        two = ("Host: localhost", "Host: localhost")
        assert await ask(port, UNLOAD, *two) == (400, "bad_request")


@pytest.mark.contract("10.guard.host")
async def test_an_old_client_that_names_no_host_is_not_taken_for_local(short_path: Path) -> None:
    async with core(short_path, TOKEN) as port, connected(TcpAddress("127.0.0.1", port)) as client:
        await client.send(b"POST /engines/nobody/unload HTTP/1.0\r\n\r\n")
        assert (await client.read_to_end()).startswith(b"HTTP/1.1 403 ")


@pytest.mark.contract("10.guard.as-routed")
@pytest.mark.parametrize(
    "path",
    [
        "/engines/nobody/unload%0A",
        "/engines/nobody/%75nload",
        "/engines/a%2Fb/unload",
        "/%65ngines/x",
    ],
)
async def test_a_path_spelt_otherwise_is_guarded_too(short_path: Path, path: str) -> None:
    async with core(short_path, NO_TOKEN) as port:
        assert await ask(port, f"POST {path}", BY_PROXY) == FORBIDDEN
        assert await ask(port, f"POST {path}?x=/../health", BY_PROXY) == FORBIDDEN
        assert await ask(port, f"POST http://localhost{path}", BY_PROXY) == FORBIDDEN


# --- Bodies that never come ---------------------------------------------------------------------


@pytest.mark.contract("10.guard.before-body")
@pytest.mark.parametrize("request_line", [UNLOAD, "POST /engines/nobody/voices", "PATCH /settings"])
@pytest.mark.parametrize(
    "body",
    [
        ("Content-Length: 20000000",),
        ("Content-Length: 20000000", "Expect: 100-continue"),
        ("Transfer-Encoding: chunked",),
    ],
)
async def test_who_is_refused_hears_it_before_the_body_and_is_hung_up_on(
    short_path: Path, request_line: str, body: tuple[str, ...]
) -> None:
    async with (
        core(short_path, NO_TOKEN) as port,
        connected(TcpAddress("127.0.0.1", port)) as client,
    ):
        await client.send(head(request_line, BY_PROXY, *body))
        with anyio.fail_after(5):
            answer = await client.read_to_end()
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert b"100 Continue" not in answer
        assert answer.lower().count(b"connection: close") == 1


async def test_who_is_refused_without_a_body_may_ask_again_and_is_judged_again(
    short_path: Path,
) -> None:
    async with (
        core(short_path, NO_TOKEN) as port,
        connected(TcpAddress("127.0.0.1", port)) as client,
    ):
        for line, expected in ((BY_PROXY, 403), ("X: y", 404), (BY_PROXY, 403)):
            await client.send(head(UNLOAD, "Content-Length: 0", line))
            assert (await answer_of(client))[0] == expected


@pytest.mark.contract("10.guard.trailers")
async def test_a_trailer_is_no_authorization(short_path: Path) -> None:
    async with core(short_path, TOKEN) as port, connected(TcpAddress("127.0.0.1", port)) as client:
        chunked = ("Transfer-Encoding: chunked", "Trailer: authorization")
        trailers = f"0\r\n{SECRET}\r\n\r\n"
        await client.send(head(UNLOAD, BY_PROXY, *chunked) + trailers.encode())
        assert (await answer_of(client))[0] == 403


@pytest.mark.contract("10.guard.trailers", "10.guard.secret-stripped")
@pytest.mark.parametrize("path", ["/speak", "/engines/tone/unload", "/v1/audio/speech"])
async def test_no_secret_reaches_a_handler_neither_in_the_head_nor_after_the_body(
    path: str,
) -> None:
    async def show(request: Request) -> JSONResponse:
        await request.body()
        return JSONResponse({"names": {"all": sorted(request.headers.keys())}})

    app = Starlette(routes=[Route(path, show, methods=["POST"])])
    async with (
        serving(http_only(guarded(app, TOKEN))) as server,
        connected(server.addresses[0]) as client,
    ):
        await client.send(
            head(f"POST {path}", SECRET, "Transfer-Encoding: chunked", "AUTHORIZATION: Basic x")
            + b"2\r\nhi\r\n0\r\nAuthorization: Bearer s3cret\r\n\r\n"
        )
        with anyio.fail_after(5):
            status, body = await answer_of(client)
    assert (status, body["names"]["all"]) == (200, ["host", "transfer-encoding"])


# --- Pages --------------------------------------------------------------------------------------


@pytest.mark.contract("10.guard.preflight", "10.guard.readable")
async def test_a_browser_may_ask_first_for_a_page_that_is_listed(short_path: Path) -> None:
    wish = "Access-Control-Request-Method: POST"
    async with core(short_path, TOKEN) as port, connected(TcpAddress("127.0.0.1", port)) as client:
        await client.send(head("OPTIONS /settings", BY_PROXY, f"Origin: {LISTED}", wish))
        granted = await client.read_until(b"\r\n\r\n")
        assert granted.startswith(b"HTTP/1.1 204 ")
        assert f"access-control-allow-origin: {LISTED}".encode() in granted
        await client.send(head("GET /health", BY_PROXY, f"Origin: {LISTED}"))
        assert b"x-request-id" in (read := await client.read_until(b"\r\n\r\n"))
        assert f"access-control-allow-origin: {LISTED}".encode() in read
    async with core(short_path, TOKEN) as port:
        evil = "Origin: https://evil.example"
        assert await ask(port, "OPTIONS /settings", evil, wish) == FORBIDDEN
        assert await ask(port, "OPTIONS /speak", evil, wish) == (405, "bad_request")
