"""The card as an operator and a client see it: residency, freeing, keep-alive and turns."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Any

import anyio
import httpx
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.model import ResidencySettings
from rhapsode_http.testing import connected

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

Serve = Callable[..., AbstractAsyncContextManager[Any]]
Tone = Callable[..., EngineEntry]

SENTENCE = "Hello there, you who listen to this for a while"
EMPTY: dict[str, Any] = {"resident": 0, "max": 1, "waiting": 0, "models": []}


def error(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    return answer.json()["error"]


async def residency(core: Any) -> dict[str, Any]:
    return (await core.http.get("/residency")).json()


async def engine(core: Any, name: str) -> dict[str, Any]:
    return {one["id"]: one for one in (await core.http.get("/engines")).json()}[name]


async def until_down(core: Any, name: str) -> None:
    with anyio.fail_after(20):
        while (await engine(core, name))["process"] != "down":
            pass


@asynccontextmanager
async def speaking(core: Any, name: str, **fields: object) -> AsyncGenerator[Any]:
    """Is a client to whom an engine speaks for the length of the block."""
    asked = {"engine": name, "text": SENTENCE, "stream": True, **fields}
    async with core.http.stream("POST", "/speak", json=asked) as answer:
        assert answer.status_code == 200
        body = answer.aiter_raw()
        await anext(body)
        yield body


# What is shown.


@pytest.mark.contract("3.residency.starts-nothing")
async def test_residency_starts_nothing_and_waits_for_no_worker(serve: Serve, tone: Tone) -> None:
    async with (
        serve({"tone": tone("mute-start"), "off": tone()}) as core,
        anyio.create_task_group() as tasks,
    ):
        assert await residency(core) == EMPTY
        assert {e["process"] for e in (await core.http.get("/engines")).json()} == {"down"}
        tasks.start_soon(core.http.get, "/engines/tone/voices")
        with anyio.fail_after(10):
            while (await engine(core, "tone"))["process"] != "starting":
                pass
        assert await residency(core) == EMPTY
        tasks.cancel_scope.cancel()


@pytest.mark.contract("3.residency.listing", "3.residency.absent-fields")
async def test_residency_lists_the_model_and_when_it_goes_unless_it_speaks(
    serve: Serve, tone: Tone
) -> None:
    async with serve({"tone": tone("pace=1")}) as core:
        async with speaking(core, "tone", variant="polyglot", keepAliveSeconds=90):
            shown = await residency(core)
            (model,) = shown["models"]
            assert (shown["resident"], shown["waiting"]) == (1, 0)
            assert (model["engine"], model["variant"], model["leases"]) == ("tone", "polyglot", 1)
            assert "expiresAt" not in model
        with anyio.fail_after(10):
            while (await residency(core))["models"][0]["leases"]:
                pass
        (model,) = (await residency(core))["models"]
    used, goes = (datetime.fromisoformat(model[key]) for key in ("lastUsedAt", "expiresAt"))
    assert model["lastUsedAt"].endswith("Z")
    assert (goes - used).total_seconds() == model["keepAliveSeconds"] == 90


@pytest.mark.contract("3.residency.listing")
async def test_health_says_who_waits_and_for_whom(
    serve: Serve, tone: Tone, second_tone: EngineEntry
) -> None:
    async with (
        serve({"tone": tone("pace=1"), "other": second_tone}) as core,
        anyio.create_task_group() as tasks,
    ):
        async with speaking(core, "tone"):
            tasks.start_soon(lambda: core.speak(engine="other", text="Hi"))
            with anyio.fail_after(20):
                while not (await residency(core))["waiting"]:
                    pass
            brief = {"resident": 1, "max": 1, "waiting": 1, "blockedBy": "tone"}
            assert (await core.http.get("/health")).json()["residency"] == brief
            shown = await residency(core)
            assert {**brief, "models": shown["models"]} == shown
        tasks.cancel_scope.cancel()


async def test_a_listener_who_takes_nothing_holds_up_no_other_engine(
    serve: Serve, tone: Tone, second_tone: EngineEntry
) -> None:
    asked = {"engine": "tone", "text": "listen " * 500, "stream": True, "format": "wav"}
    body = json.dumps(asked).encode()
    head = b"POST /speak HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    async with (
        serve({"tone": tone(), "other": second_tone}) as core,
        connected(core.address, receive_buffer_bytes=128 * 1024) as listener,
    ):
        await listener.send(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await listener.read_until(b"RIFF")
        assert (await core.speak(engine="other", text="Hi")).status_code == 200
        (model,) = (await residency(core))["models"]
        assert model["engine"] == "other"
        sound = await listener.read_until(b"x-rhapsode-duration-ms")
        assert len(sound) > 8 * 1024 * 1024  # more than the kernel would have held


# Giving it back.


@pytest.mark.contract("3.unload-route.modes", "3.unload-route.answer")
@pytest.mark.parametrize("query", ["", "?mode=terminate"])
async def test_freeing_ends_the_process_whether_it_has_a_model_or_not(
    serve: Serve, tone: Tone, query: str, is_alive: Callable[[int], bool]
) -> None:
    async with serve({"tone": tone()}) as core:
        for route in ("/speak", "/engines/tone/voices"):
            if route == "/speak":
                await core.speak(engine="tone", text="Hi")
            pid = (await core.core.fleet.worker("tone").ensure_up()).pid
            answer = await core.http.post(f"/engines/tone/unload{query}")
            assert (answer.status_code, answer.json()) == (200, await engine(core, "tone"))
            assert (answer.json()["process"], answer.json()["model"]) == ("down", "unloaded")
            assert not is_alive(pid)
        again = await core.http.post(f"/engines/tone/unload{query}")
        assert (again.status_code, again.json()) == (200, answer.json())
        assert (await engine(core, "tone"))["restarts"] == 0
        assert (await core.speak(engine="tone", text="Hi")).status_code == 200


@pytest.mark.contract("3.unload-route.modes", "3.unload-route.answer")
async def test_unloading_keeps_the_process_and_starts_none(serve: Serve, tone: Tone) -> None:
    async with serve({"tone": tone()}) as core:
        down = await core.http.post("/engines/tone/unload?mode=unload")
        assert (down.status_code, down.json()["process"]) == (200, "down")
        await core.speak(engine="tone", text="Hi")
        pid = (await core.core.fleet.worker("tone").ensure_up()).pid
        for _ in range(2):
            answer = await core.http.post("/engines/tone/unload?mode=unload")
            assert (answer.status_code, answer.json()["model"]) == (200, "unloaded")
            assert await residency(core) == EMPTY
        assert (await core.speak(engine="tone", text="Hi")).status_code == 200
        assert (await core.core.fleet.worker("tone").ensure_up()).pid == pid


@pytest.mark.contract("3.unload-route.busy", "6.errors.conflict")
@pytest.mark.parametrize("mode", ["terminate", "unload"])
async def test_freeing_an_engine_that_speaks_is_a_conflict_and_cuts_nothing(
    serve: Serve, tone: Tone, mode: str
) -> None:
    async with serve({"tone": tone("pace=4")}) as core:
        async with speaking(core, "tone") as body:
            answer = await core.http.post(f"/engines/tone/unload?mode={mode}")
            assert (answer.status_code, error(answer)["code"]) == (409, "conflict")
            assert error(answer)["retryable"] is False
            assert "'tone'" in error(answer)["message"]
            async for _ in body:  # to its end, which would raise if it were cut
                pass
        assert (await core.http.post(f"/engines/tone/unload?mode={mode}")).status_code == 200


async def test_freeing_an_engine_that_is_not_here_is_unknown(serve: Serve, tone: Tone) -> None:
    async with serve({"tone": tone()}) as core:
        answer = await core.http.post("/engines/nobody/unload")
    assert (answer.status_code, error(answer)["code"]) == (404, "unknown_engine")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("mode=terminated", "mode"),
        ("mode=", "mode"),
        ("mode", "mode"),
        ("mode=unload&mode=unload", "mode"),
        ("mod=unload", "mod"),
    ],
)
async def test_another_mode_is_a_bad_request_that_names_it_and_frees_nothing(
    serve: Serve, tone: Tone, query: str, field: str
) -> None:
    async with serve({"tone": tone()}) as core:
        await core.http.get("/engines/tone/voices")
        answer = await core.http.post(f"/engines/tone/unload?{query}")
        assert (answer.status_code, error(answer)["code"]) == (400, "bad_request")
        assert error(answer)["message"].startswith(f"{field}: ")
        assert (await engine(core, "tone"))["process"] == "up"


async def test_a_load_that_fails_after_its_client_has_left_leaves_no_place(
    serve: Serve, tone: Tone
) -> None:
    settings = ResidencySettings(keep_alive_seconds=-1)
    async with serve({"tone": tone("slow-load", "fail-load")}, residency=settings) as core:
        async with anyio.create_task_group() as client:
            client.start_soon(lambda: core.speak(engine="tone", text="Hi"))
            with anyio.fail_after(20):
                while not (await residency(core))["resident"]:
                    pass
            client.cancel_scope.cancel()
        with anyio.fail_after(20):
            while await residency(core) != EMPTY:
                pass
        assert (await engine(core, "tone"))["process"] == "up"


async def test_a_process_that_cannot_load_ends_when_a_model_would(serve: Serve, tone: Tone) -> None:
    async with serve({"tone": tone("fail-load")}) as core:
        answer = await core.speak(engine="tone", text="Hi", keepAliveSeconds=0)
        assert answer.status_code == 500
        await until_down(core, "tone")


# Keep-alive.

SPEAK = ("/speak", {"engine": "tone", "text": "Hi"})
DIALOGUE = ("/engines/tone/dialogue", {"turns": [{"speaker": "a", "text": "Hi"}]})


@pytest.mark.contract("3.keep-alive.request", "3.keep-alive.deadline", "3.keep-alive.terminates")
@pytest.mark.parametrize(("path", "body"), [SPEAK, DIALOGUE], ids=["speak", "dialogue"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_keep_alive_of_0_gives_the_card_back_with_the_process(
    serve: Serve,
    tone: Tone,
    is_alive: Callable[[int], bool],
    path: str,
    body: dict[str, object],
    stream: bool,
) -> None:
    async with serve({"tone": tone()}) as core:
        pid = (await core.core.fleet.worker("tone").ensure_up()).pid
        asked = body | {"keepAliveSeconds": 0, "stream": stream}
        assert (await core.http.post(path, json=asked)).status_code == 200
        await until_down(core, "tone")
        assert await residency(core) == EMPTY
        assert not is_alive(pid)
        assert (await engine(core, "tone"))["restarts"] == 0


@pytest.mark.contract("3.keep-alive.request", "3.keep-alive.precedence", "3.keep-alive.per-engine")
@pytest.mark.parametrize(("path", "body"), [SPEAK, DIALOGUE], ids=["speak", "dialogue"])
async def test_a_request_goes_before_its_engine_and_that_before_the_server(
    serve: Serve, tone: Tone, path: str, body: dict[str, object]
) -> None:
    entry = tone().model_copy(update={"keep_alive_seconds": 40})
    settings = ResidencySettings(keep_alive_seconds=0)
    async with serve({"tone": entry}, residency=settings) as core:
        for asked, in_force in ((-1, -1), (None, 40), (50, 50)):
            more = {} if asked is None else {"keepAliveSeconds": asked}
            assert (await core.http.post(path, json=body | more)).status_code == 200
            (model,) = (await residency(core))["models"]
            assert model["keepAliveSeconds"] == in_force
            assert ("expiresAt" in model) is (in_force != -1)


# Taking turns.


@pytest.mark.slow  # ten processes, one after the other
@pytest.mark.contract("3.policy.max-resident", "3.keep-alive.no-reservation")
async def test_two_engines_and_one_place_take_ten_turns_in_the_order_of_their_requests(
    serve: Serve, tone: Tone, second_tone: EngineEntry, unruly: EngineEntry
) -> None:
    """Cases 27 and 30."""
    settings = ResidencySettings(eviction_wait_seconds=300)
    engines = {"unruly": unruly, "tone": tone(), "other": second_tone}
    order: list[int] = []

    async with serve(engines, residency=settings) as core, anyio.create_task_group() as tasks:

        async def ask(number: int, name: str) -> None:
            answer = await core.speak(engine=name, text=SENTENCE, stream=True, keepAliveSeconds=-1)
            assert (answer.status_code, len(answer.content) > 44) == (200, True)
            order.append(number)

        for name in ("tone", "other"):  # a request stands in line once its process is up
            await core.http.get(f"/engines/{name}/capabilities")
        async with speaking(core, "unruly", text="stall"):
            for number, name in enumerate(["tone", "other"] * 5):
                tasks.start_soon(ask, number, name)
                while (await residency(core))["waiting"] <= number:
                    pass
            assert order == []
        while len(order) < 10:
            models = [e["model"] for e in (await core.http.get("/engines")).json()]
            assert models.count("unloaded") >= 2
        assert order == list(range(10))
        assert {e["restarts"] for e in (await core.http.get("/engines")).json()} == {0}


# A conversation.

TURNS = [
    {"speaker": "a", "text": "Did you hear that?"},
    {"speaker": "b", "text": "It's only the cat."},
    {"speaker": "a", "text": "It is never only the cat."},
]


@pytest.mark.contract("6.dialogue.route", "6.dialogue.as-speak")
async def test_a_conversation_is_the_same_audio_whole_and_streamed(
    serve: Serve, tone: Tone
) -> None:
    async with serve({"tone": tone()}) as core:
        asked = {"turns": TURNS, "voices": {"a": "a4"}, "seed": 7, "format": "pcm"}
        whole = await core.http.post("/engines/tone/dialogue", json=asked)
        streamed = await core.http.post("/engines/tone/dialogue", json=asked | {"stream": True})
    assert (whole.status_code, streamed.status_code) == (200, 200)
    assert whole.headers["content-type"] == "audio/L16; rate=24000; channels=1"
    assert int(whole.headers["content-length"]) == len(whole.content)
    assert int(whole.headers["x-rhapsode-duration-ms"]) == len(whole.content) // 48
    assert streamed.headers["transfer-encoding"] == "chunked"
    assert streamed.headers["trailer"].lower() == "x-rhapsode-duration-ms"
    assert streamed.content == whole.content
    assert len(whole.content) > 48_000


@pytest.mark.contract(
    "6.dialogue.too-many-speakers",
    "6.dialogue.unused-label",
    "6.dialogue.budget",
    "6.dialogue.unknown-voice",
    "6.dialogue.turns",
    "6.dialogue.no-delivery",
)
@pytest.mark.parametrize(
    ("changes", "status", "code", "field"),
    [
        (
            {"turns": [{"speaker": s, "text": "Hi"} for s in "abcde"]},
            422,
            "unsupported",
            "turns",
        ),
        ({"voices": {"c": "a4"}}, 400, "bad_request", "voices"),
        ({"variant": "brief"}, 400, "bad_request", "turns"),
        ({"voices": {"a": "nobody"}}, 404, "unknown_voice", "voices"),
        ({"voices": {"a": "../x"}}, 400, "bad_request", "voices"),
        ({"variant": "none"}, 422, "unsupported", "variant"),
        ({"turns": []}, 400, "bad_request", "turns"),
        ({"turns": [{"speaker": "a", "text": "..."}]}, 400, "bad_request", "turns"),
        ({"delivery": "hushed"}, 400, "bad_request", "delivery"),
        ({"engine": "tone"}, 400, "bad_request", "engine"),
    ],
)
async def test_a_conversation_that_cannot_be_performed_is_refused_naming_what_is_wrong(
    serve: Serve, tone: Tone, changes: dict[str, object], status: int, code: str, field: str
) -> None:
    async with serve({"tone": tone()}) as core:
        answer = await core.http.post("/engines/tone/dialogue", json={"turns": TURNS} | changes)
    assert (answer.status_code, error(answer)["code"]) == (status, code)
    assert field in error(answer)["message"]


@pytest.mark.contract("6.dialogue.undeclared", "6.errors.unknown-engine")
async def test_an_engine_that_performs_no_dialogue_or_is_not_here_refuses_it(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.http.post("/engines/unruly/dialogue", json={"turns": TURNS[:1]})
        assert (answer.status_code, error(answer)["code"]) == (422, "unsupported")
        assert (await residency(core))["resident"] == 0
        nobody = await core.http.post("/engines/nobody/dialogue", json={"turns": TURNS[:1]})
        assert (nobody.status_code, error(nobody)["code"]) == (404, "unknown_engine")
