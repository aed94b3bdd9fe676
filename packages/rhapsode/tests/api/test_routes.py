"""The public routes of a serving core."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import httpx
import pytest
from rhapsode.settings.entry import EngineEntry

pytestmark = pytest.mark.anyio

Serve = Callable[..., AbstractAsyncContextManager[Any]]
Tone = Callable[..., EngineEntry]


def error(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    return answer.json()["error"]


@pytest.mark.contract("d.listing.starts-nothing", "9.version.health", "3.health.server")
async def test_health_and_engines_start_nothing(serve: Serve, tone: Tone) -> None:
    async with serve({"tone": tone(), "mute": tone("mute-start")}) as core:
        health = (await core.http.get("/health")).json()
        engines = (await core.http.get("/engines")).json()
    assert (health["contract"], health["version"], health["status"]) == (1, "0.1.0", "ok")
    assert health["residency"] == {"resident": 0, "max": 1, "waiting": 0}
    assert health["engines"] == engines
    assert [(e["id"], e["process"], e["restarts"]) for e in engines] == [
        ("tone", "down", 0),
        ("mute", "down", 0),
    ]


@pytest.mark.contract("d.queue.responsive", "d.listing.starts-nothing")
async def test_health_and_engines_answer_while_an_engine_starts(serve: Serve, tone: Tone) -> None:
    async with serve({"tone": tone("mute-start")}) as core, anyio.create_task_group() as tasks:
        tasks.start_soon(core.http.get, "/engines/tone/voices")
        with anyio.fail_after(10):
            while (await core.http.get("/engines")).json()[0]["process"] != "starting":
                pass
        assert (await core.http.get("/health")).status_code == 200
        tasks.cancel_scope.cancel()


@pytest.mark.contract("d.listing.no-model", "4.license.listed")
async def test_capabilities_start_a_process_and_no_model(serve: Serve, tone: Tone) -> None:
    async with serve({"tone": tone()}) as core:
        document = (await core.http.get("/engines/tone/capabilities")).json()
        summary = (await core.http.get("/engines")).json()[0]
    assert document["engine"]["id"] == "tone"
    assert "current" not in document
    assert (summary["process"], summary["model"]) == ("up", "unloaded")
    assert summary["displayName"] == "Tone"
    assert summary["license"]["weightsCommercialUse"] is True


@pytest.mark.contract("7.voices.proxied", "7.preview.rewritten")
async def test_voices_are_the_workers_with_public_previews(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core:
        first, second = (await core.http.get("/engines/unruly/voices")).json()
        assert first == {
            "id": "v_1",
            "label": "V",
            "spec": "s",
            "extra": 1,
            "previewUrl": "/engines/unruly/voices/v_1/preview",
        }
        assert "previewUrl" not in second
        sample = await core.http.get(first["previewUrl"])
        assert (sample.headers["content-type"], len(sample.content)) == ("audio/wav", 512)
        broken = await core.http.get("/engines/unruly/voices/v_2/preview")
        assert (broken.status_code, error(broken)["code"]) == (500, "internal")


@pytest.mark.parametrize("voice", ["..%2Fx", "a%2fb", "%2e%2e", "C:%5Cx", "x" * 65, "a%00", "%2A"])
@pytest.mark.parametrize(("method", "rest"), [("GET", "/preview"), ("DELETE", "")])
@pytest.mark.contract("7.id.grammar")
async def test_what_is_no_id_is_refused_before_anything_starts(
    serve: Serve, tone: Tone, voice: str, method: str, rest: str
) -> None:
    async with serve({"tone": tone()}) as core:
        answer = await core.http.request(method, f"/engines/tone/voices/{voice}{rest}")
        assert (answer.status_code, error(answer)["code"]) == (400, "bad_request")
        assert error(answer)["message"].startswith("id: ")
        assert (await core.http.get("/engines")).json()[0]["process"] == "down"


async def test_a_preview_that_is_not_there_names_its_voice(serve: Serve, tone: Tone) -> None:
    async with serve({"tone": tone()}) as core:
        unknown = await core.http.get("/engines/tone/voices/a44/preview")
        assert (unknown.status_code, error(unknown)["code"]) == (404, "unknown_voice")
        assert error(unknown)["message"].startswith("id: there is no 'a44'; there are a4, ")
        silent = await core.http.get("/engines/tone/voices/a4/preview")
        assert (silent.status_code, error(silent)["code"]) == (422, "unsupported")
        assert error(silent)["message"] == "id: the voice 'a4' has no preview"


@pytest.mark.contract("6.errors.unknown-engine")
@pytest.mark.parametrize("path", ["capabilities", "voices", "voices/a/preview"])
async def test_an_engine_that_is_not_here_is_unknown_on_every_route(
    serve: Serve, tone: Tone, path: str
) -> None:
    async with serve({"tone": tone()}) as core:
        answer = await core.http.get(f"/engines/nobody/{path}")
    assert (answer.status_code, error(answer)["code"]) == (404, "unknown_engine")


@pytest.mark.contract("d.errors.unknown-route", "1.routes.worker-verbs-hidden")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nope"),
        ("POST", "/load"),
        ("POST", "/terminate"),
        ("GET", "/"),
        ("GET", "/engines/"),
        ("GET", "/engines/tone/voices/a/b"),
        ("GET", "/engines/tone/voices/a/b/preview"),
    ],
)
async def test_a_route_nobody_serves_is_404_with_the_envelope(
    serve: Serve, method: str, path: str
) -> None:
    async with serve({}) as core:
        answer = await core.http.request(method, path)
    assert (answer.status_code, error(answer)["code"]) == (404, "bad_request")


@pytest.mark.contract("d.errors.method")
@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/speak", "POST"),
        ("DELETE", "/health", "GET"),
        ("POST", "/engines/tone/capabilities", "GET"),
    ],
)
async def test_a_wrong_method_is_405_with_the_envelope_and_what_is_allowed(
    serve: Serve, method: str, path: str, allowed: str
) -> None:
    async with serve({}) as core:
        answer = await core.http.request(method, path)
    assert (answer.status_code, error(answer)["code"]) == (405, "bad_request")
    assert allowed in answer.headers["allow"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"engine": "tone"}', "text"),
        ('{"text": "Hi"}', "engine"),
        ('{"engine": "tone", "text": "Hi", "voic": "a4"}', "voic"),
        ('{"engine": "tone", "text": 7}', "text"),
        ('{"engine": "tone", "text": "Hi", "seed": true}', "seed"),
        ('{"engine": "tone", "text": "Hi", "seed": 1.5}', "seed"),
        ('{"engine": "tone", "text": "Hi", "params": {"pitch": NaN}}', "params.pitch"),
        ('{"engine": "tone", "text": "Hi", "params": {"pitch": "inf"}}', "params.pitch"),
        ('{"engine": "tone", "text": "Hi", "delivery": "calm"}', "delivery"),
        ('{"engine": "tone", "text": "Hi", "keepAliveSeconds": -2}', "keepAliveSeconds"),
        ('{"engine": "tone", "text": "Hi", "stream": "perhaps"}', "stream"),
        ('{"engine": "tone", "text": "Hi"', "JSON"),
        ("[]", "object"),
        ("", "JSON"),
    ],
)
@pytest.mark.contract("6.errors.bad-request", "d.codes.malformed", "d.codes.unknown-field")
async def test_a_malformed_request_is_bad_naming_what_is_wrong(
    serve: Serve, tone: Tone, body: str, field: str
) -> None:
    async with serve({"tone": tone()}) as core:
        answer = await core.http.post(
            "/speak", content=body, headers={"content-type": "application/json"}
        )
        assert (answer.status_code, error(answer)["code"]) == (400, "bad_request")
        assert field in error(answer)["message"]
        assert error(answer)["retryable"] is False
        assert (await core.http.get("/engines")).json()[0]["process"] == "down"


@pytest.mark.contract("d.codes.content-type")
async def test_a_body_of_another_type_is_bad(serve: Serve) -> None:
    async with serve({}) as core:
        plain = {"content-type": "text/plain"}
        answer = await core.http.post("/speak", content="{}", headers=plain)
    assert (answer.status_code, error(answer)["code"]) == (400, "bad_request")
    assert "application/json" in error(answer)["message"]


@pytest.mark.contract("d.request-id.answered")
async def test_every_answer_has_a_request_id(serve: Serve) -> None:
    async with serve({}) as core:
        for path in ("/health", "/nope", "/speak"):
            assert (await core.http.get(path)).headers["x-request-id"]


@pytest.mark.contract("2.stop.refuses")
async def test_a_core_that_is_stopping_takes_no_new_speech_and_still_tells_its_health(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core, anyio.create_task_group() as tasks:
        asked = {"engine": "unruly", "text": "stall", "stream": True}
        async with core.http.stream("POST", "/speak", json=asked) as speaking:
            body = speaking.aiter_raw()
            await anext(body)
            core.server.drain()
            answer = await core.speak(engine="unruly", text="whole")
            assert (answer.status_code, error(answer)["code"]) == (429, "overloaded")
            assert answer.headers["retry-after"]
            assert (await core.http.get("/health")).status_code == 200
        tasks.cancel_scope.cancel()


async def test_an_engine_may_start_with_the_server_and_one_that_is_disabled_is_not_here(
    serve: Serve, tone: Tone
) -> None:
    early = tone().model_copy(update={"autostart": True})
    disabled = tone().model_copy(update={"disabled": True})
    async with serve({"tone": early, "off": disabled}) as core:
        with anyio.fail_after(20):
            while (await core.http.get("/engines")).json()[0]["process"] != "up":
                pass
        engines = (await core.http.get("/engines")).json()
        assert [(e["id"], e["model"]) for e in engines] == [("tone", "unloaded")]
        answer = await core.http.get("/engines/off/voices")
        assert (answer.status_code, error(answer)["code"]) == (404, "unknown_engine")


async def test_an_engine_that_cannot_start_early_stops_nobody(serve: Serve, tone: Tone) -> None:
    broken = tone("exit-at-start").model_copy(update={"autostart": True})
    async with serve({"broken": broken, "tone": tone()}) as core:
        assert (await core.speak(engine="tone", text="Hello")).status_code == 200
        with anyio.fail_after(20):
            while "lastError" not in (await core.http.get("/engines")).json()[0]:
                pass
        assert (await core.http.get("/health")).json()["status"] == "ok"
