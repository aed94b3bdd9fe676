"""The guard in front of an app that notes what reaches it."""

import json
import logging
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from pydantic import SecretStr
from rhapsode.api.guard.admission import Rules
from rhapsode.api.guard.guard import Guard, guarded
from rhapsode.api.guard.management import MANAGEMENT, OPEN
from rhapsode.settings.model import ManagementSettings
from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio

HERE, THERE = "127.0.0.1", "203.0.113.9"
OWN, LISTED, EVIL = "http://localhost:3000", "https://page.example", "https://evil.example"
SETTINGS: Final = ManagementSettings(token=SecretStr("s3cret"), origins=(LISTED,))

Pairs = list[tuple[str, str]]


@dataclass
class Inside:
    """What is behind the guard, and what came out in front of it."""

    scopes: list[Scope] = field(default_factory=list[Scope])
    sent: list[Message] = field(default_factory=list[Message])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        headers = [(b"content-type", b"text/plain"), (b"vary", b"Accept")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"done"})

    @property
    def is_reached(self) -> bool:
        return bool(self.scopes)

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def headers(self) -> Pairs:
        return [(name.decode(), value.decode()) for name, value in self.sent[0]["headers"]]

    def header(self, name: str) -> str | None:
        return ", ".join(value for key, value in self.headers if key == name) or None

    @property
    def error(self) -> dict[str, Any]:
        return json.loads(self.sent[1]["body"])["error"]


async def ask(
    method: str, path: str, *headers: tuple[str, str], peer: str | None = HERE, root: str = ""
) -> Inside:
    """Asks without ever sending a body: who reads it fails the test."""
    inside = Inside()

    async def receive() -> Message:
        pytest.fail("the body was read")

    async def send(message: Message) -> None:
        inside.sent.append(message)

    raw = [(b"host", b"localhost:8080")]
    raw += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    client = None if peer is None else (peer, 50_000)
    scope = {"type": "http", "method": method, "path": path, "headers": raw, "root_path": root}
    guard = Guard(inside, Rules.of(SETTINGS, "box"))
    await guard({**scope, "client": client}, receive, send)
    return inside


def concrete(path: str) -> str:
    return path.replace("{engine}", "tone").replace("{voice}", "a4").replace("{job}", "j1")


@pytest.mark.contract(
    "10.guard.routes",
    "10.guard.stranger",
    "10.guard.before-body",
    "3.unload-route.guarded",
    "6.errors.forbidden",
    "7.create.guarded",
)
@pytest.mark.parametrize(("method", "path"), MANAGEMENT)
@pytest.mark.parametrize("peer", [THERE, None])
async def test_a_stranger_is_forbidden_on_every_management_route(
    method: str, path: str, peer: str | None
) -> None:
    answer = await ask(method, concrete(path), peer=peer)
    assert not answer.is_reached
    assert answer.status == 403
    assert answer.error.keys() == {"code", "message", "retryable"}
    assert (answer.error["code"], answer.error["retryable"]) == ("forbidden", False)
    assert answer.header("retry-after") is None


@pytest.mark.contract("10.guard.local", "10.guard.token")
@pytest.mark.parametrize(("method", "path"), MANAGEMENT)
async def test_who_is_here_or_has_the_token_reaches_every_management_route(
    method: str, path: str
) -> None:
    secret = ("authorization", "Bearer s3cret")
    for answer in (
        await ask(method, concrete(path)),
        await ask(method, concrete(path), secret, peer=THERE),
        await ask(method, concrete(path), secret, ("origin", LISTED), peer=None),
    ):
        assert (answer.is_reached, answer.status) == (True, 200)


@pytest.mark.contract("10.guard.open")
@pytest.mark.parametrize(("method", "path"), OPEN)
@pytest.mark.parametrize("origin", [(), (("origin", EVIL),), (("origin", "null"),)])
async def test_what_is_open_answers_everybody(
    method: str, path: str, origin: tuple[tuple[str, str], ...]
) -> None:
    headers = (("x-forwarded-for", "junk"), ("authorization", "Bearer wrong"), *origin)
    answer = await ask(method, concrete(path), *headers, peer=THERE)
    assert (answer.is_reached, answer.status) == (True, 200)


@pytest.mark.contract("10.guard.origin-foreign", "10.guard.origin-with-token")
@pytest.mark.parametrize(("method", "path"), MANAGEMENT)
async def test_another_page_is_forbidden_on_every_management_route(method: str, path: str) -> None:
    secret = ("authorization", "Bearer s3cret")
    for peer in (HERE, THERE):
        answer = await ask(method, concrete(path), ("origin", EVIL), secret, peer=peer)
        assert (answer.is_reached, answer.status) == (False, 403)
        assert EVIL in answer.error["message"]


@pytest.mark.contract("10.guard.secret-stripped")
@pytest.mark.parametrize("path", ["/speak", "/engines/tone/unload", "/nope", "/v1/audio/speech"])
@pytest.mark.parametrize("secrets", [["Bearer s3cret"], ["Bearer sk-1", "Basic x"], [""]])
async def test_nothing_behind_the_guard_sees_an_authorization(
    path: str, secrets: list[str]
) -> None:
    headers = [("accept", "*/*"), *(("authorization", secret) for secret in secrets), ("x", "y")]
    answer = await ask("POST", path, *headers)
    [scope] = answer.scopes
    assert scope["headers"] == [(b"host", b"localhost:8080"), (b"accept", b"*/*"), (b"x", b"y")]


@pytest.mark.contract("10.guard.secret-stripped")
async def test_no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = ("authorization", "Bearer hush-hush")
    for peer in (HERE, THERE):
        for origin in (OWN, EVIL):
            await ask("POST", "/engines/tone/unload", secret, ("origin", origin), peer=peer)
            await ask("POST", "/speak", secret, ("origin", origin), peer=peer)
    assert "forbidden to 203.0.113.9: POST '/engines/tone/unload'" in caplog.text
    assert "hush" not in caplog.text
    assert "s3cret" not in caplog.text


@pytest.mark.contract("10.guard.as-routed")
@pytest.mark.parametrize("root", ["/settings", "/rh", "/"])
async def test_the_router_matches_the_path_that_was_judged(root: str) -> None:
    answer = await ask("GET", f"{root}/settings", peer=THERE, root=root)
    assert [scope["root_path"] for scope in answer.scopes] == [""]


# --- Pages --------------------------------------------------------------------------------------

PREFLIGHT: Final = ("access-control-request-method", "PATCH")


@pytest.mark.contract("10.guard.preflight")
@pytest.mark.parametrize("path", ["/settings", "/speak", "/engines/tone/voices/a4", "/nope"])
@pytest.mark.parametrize("origin", [OWN, LISTED, "https://[::1]:9"])
@pytest.mark.parametrize("peer", [HERE, THERE, None])
async def test_a_preflight_of_an_admitted_page_is_answered_ahead_of_the_guard(
    path: str, origin: str, peer: str | None
) -> None:
    wanted = ("access-control-request-headers", "authorization,content-type,x-stainless-os")
    answer = await ask("OPTIONS", path, ("origin", origin), PREFLIGHT, wanted, peer=peer)
    assert (answer.is_reached, answer.status) == (False, 204)
    assert answer.header("access-control-allow-origin") == origin
    assert answer.header("access-control-allow-headers") == wanted[1]
    allowed = answer.header("access-control-allow-methods") or ""
    assert {"GET", "POST", "PATCH", "DELETE"} <= set(allowed.split(", "))
    assert "Origin" in (answer.header("vary") or "")
    assert answer.header("access-control-allow-credentials") is None


@pytest.mark.contract("10.guard.preflight", "10.guard.readable")
@pytest.mark.parametrize(
    "origins", [[EVIL], ["null"], [""], [OWN, EVIL], [LISTED, LISTED], ["https://page.example:1"]]
)
async def test_a_preflight_of_another_page_is_not_answered(origins: list[str]) -> None:
    said = [("origin", origin) for origin in origins]
    refused = await ask("OPTIONS", "/settings", *said, PREFLIGHT)
    assert (refused.is_reached, refused.status) == (False, 403)
    passed = await ask("OPTIONS", "/speak", *said, PREFLIGHT)
    assert passed.is_reached
    for answer in (refused, passed):
        assert not [name for name, _ in answer.headers if name.startswith("access-control")]


async def test_what_only_resembles_a_preflight_goes_to_the_routes() -> None:
    answer = await ask("OPTIONS", "/speak", ("origin", OWN))
    assert answer.is_reached
    without_origin = await ask("OPTIONS", "/speak", PREFLIGHT)
    assert without_origin.is_reached
    of_another_method = await ask("POST", "/speak", ("origin", OWN), PREFLIGHT)
    assert of_another_method.is_reached


@pytest.mark.parametrize("wanted", ["", "x\x00y", "caf\xe9", "x: y", 'a"b', "(x)"])
async def test_a_preflight_gives_back_names_of_headers_alone(wanted: str) -> None:
    headers = (("origin", OWN), PREFLIGHT, ("access-control-request-headers", wanted))
    answer = await ask("OPTIONS", "/speak", *headers)
    assert answer.status == 204
    assert answer.header("access-control-allow-headers") is None


@pytest.mark.contract("10.guard.readable")
@pytest.mark.parametrize("origin", [OWN, LISTED])
@pytest.mark.parametrize(
    ("path", "peer", "status"), [("/speak", THERE, 200), ("/engines/tone/unload", THERE, 403)]
)
async def test_a_page_that_is_admitted_may_read_its_answers(
    origin: str, path: str, peer: str, status: int
) -> None:
    answer = await ask("POST", path, ("origin", origin), peer=peer)
    assert answer.status == status
    assert answer.header("access-control-allow-origin") == origin
    exposed = (answer.header("access-control-expose-headers") or "").split(", ")
    assert exposed == ["X-Request-Id", "X-Rhapsode-Duration-Ms", "Retry-After"]
    assert "Origin" in (answer.header("vary") or "")


@pytest.mark.contract("10.guard.readable")
@pytest.mark.parametrize("origin", [EVIL, "null"])
@pytest.mark.parametrize("path", ["/speak", "/engines/tone/unload"])
async def test_another_page_may_read_none(origin: str, path: str) -> None:
    answer = await ask("POST", path, ("origin", origin))
    assert not [name for name, _ in answer.headers if name.startswith("access-control")]
    # A cache must not give this answer to a page that may read one.
    assert "Origin" in (answer.header("vary") or "")


async def test_who_is_no_page_gets_the_answer_as_it_is() -> None:
    answer = await ask("POST", "/speak")
    assert answer.headers == [("content-type", "text/plain"), ("vary", "Accept")]


async def test_what_is_no_request_passes_as_it_is() -> None:
    inside = Inside()

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        inside.sent.append(message)

    scope = {"type": "lifespan"}
    await guarded(inside, SETTINGS)(scope, receive, send)
    assert inside.scopes == [scope]
