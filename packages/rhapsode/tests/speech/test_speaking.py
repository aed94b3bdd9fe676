"""Speaking through a serving core, with a worker that does what the text says."""

import json
import os
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import httpx
import pytest
from rhapsode.settings.entry import EngineEntry, EntryDeadlines
from rhapsode.settings.model import ResidencySettings
from rhapsode.speech.deadlines import Deadlines
from rhapsode_http import Client

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

Serve = Callable[..., AbstractAsyncContextManager[Any]]


def error(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    envelope = answer.json()
    assert set(envelope) == {"error"}
    assert set(envelope["error"]) == {"code", "message", "retryable"}
    return envelope["error"]


@pytest.mark.contract("6.keep-alive.not-forwarded", "d.variant.forwarded", "d.request-id.answered")
async def test_the_worker_sees_the_request_its_variant_and_its_id_and_nothing_of_the_core(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.http.post(
            "/speak",
            json={"engine": "unruly", "text": "echo [laugh] it", "keepAliveSeconds": -1},
            headers={"X-Request-Id": "mine-1", "Authorization": "Bearer secret"},
        )
    seen = json.loads(answer.text.strip())
    assert seen["body"] == {
        "text": "echo it",
        "variant": "only",
        "format": "wav",
        "stream": False,
    }
    assert seen["headers"]["x-request-id"] == answer.headers["x-request-id"] == "mine-1"
    assert "authorization" not in seen["headers"]


@pytest.mark.contract("6.buffer.content-length")
async def test_a_buffered_answer_is_whole_whatever_the_workers_framing(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="whole")
    assert answer.headers["content-length"] == "1024"
    assert answer.headers["content-type"] == "audio/wav"


@pytest.mark.contract("6.duration.trailer", "d.stream.headers", "6.stream.chunked")
async def test_a_stream_has_its_headers_and_passes_the_trailer_on(
    serve: Serve, unruly: EngineEntry
) -> None:
    body = b'{"engine": "unruly", "text": "whole", "stream": true}'
    async with serve({"unruly": unruly}) as core, Client(core.address) as client:
        json_type = [(b"content-type", b"application/json")]
        async with await client.request("POST", "/speak", json_type, body) as answer:
            assert len(await _read(answer.read)) == 1024
            assert answer.header("transfer-encoding") == "chunked"
            assert answer.header("cache-control") == "no-store"
            assert answer.header("x-accel-buffering") == "no"
            assert answer.trailers == [(b"x-rhapsode-duration-ms", b"42")]


@pytest.mark.contract("6.duration.best-effort")
async def test_a_stream_whose_worker_says_no_duration_is_whole(
    serve: Serve, unruly: EngineEntry
) -> None:
    body = b'{"engine": "unruly", "text": "bare", "stream": true}'
    async with serve({"unruly": unruly}) as core, Client(core.address) as client:
        json_type = [(b"content-type", b"application/json")]
        async with await client.request("POST", "/speak", json_type, body) as answer:
            assert len(await _read(answer.read)) == 1024
            assert answer.trailers == []


async def _read(read: Callable[[], Any]) -> bytes:
    body = b""
    while piece := await read():
        body += piece
    return body


@pytest.mark.contract("6.floor.buffered", "6.floor.bytes", "6.floor.at-end")
async def test_a_short_body_is_an_envelope_when_buffered(serve: Serve, unruly: EngineEntry) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="short")
    assert (answer.status_code, error(answer)["code"]) == (500, "internal")
    assert "255 bytes" in error(answer)["message"]


@pytest.mark.contract("6.floor.streamed", "6.abort.server", "d.stream.abort")
@pytest.mark.parametrize("text", ["short", "cut"])
async def test_a_stream_that_is_short_or_breaks_off_is_cut(
    serve: Serve, unruly: EngineEntry, text: str
) -> None:
    async with serve({"unruly": unruly}) as core:
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete|closed"):
            await core.speak(engine="unruly", text=text, stream=True)


@pytest.mark.contract("6.buffer.errors")
async def test_a_body_that_breaks_off_is_an_envelope_when_buffered(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="cut")
    assert (answer.status_code, error(answer)["code"]) == (500, "internal")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.contract("d.errors.never-audio")
async def test_a_success_that_is_no_audio_is_internal_in_both_modes(
    serve: Serve, unruly: EngineEntry, stream: bool
) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="json", stream=stream)
    assert (answer.status_code, error(answer)["code"]) == (500, "internal")
    assert "application/json" in error(answer)["message"]


@pytest.mark.contract("d.errors.unknown-code")
async def test_an_error_with_a_code_that_is_new_to_us_passes_as_it_is(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="future")
    assert answer.status_code == 418
    assert error(answer) == {"code": "from_the_future", "message": "wait", "retryable": True}
    assert "retry-after" in answer.headers


async def test_an_error_with_a_status_that_nobody_can_be_answered_with_is_internal(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="beyond")
    assert (answer.status_code, error(answer)["code"]) == (500, "internal")
    assert "999" in error(answer)["message"]
    assert "from_the_future: wait" in error(answer)["message"]


async def test_an_error_that_is_no_envelope_is_internal(serve: Serve, unruly: EngineEntry) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="page")
    assert (answer.status_code, error(answer)["code"]) == (500, "internal")


@pytest.mark.contract("d.buffer.bound")
async def test_a_buffered_answer_over_its_bound_is_refused(
    serve: Serve, unruly: EngineEntry
) -> None:
    # 50 characters of 100 Hz samples are 10 kB; the worker sends 1.3 MB.
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="flood")
        assert (answer.status_code, error(answer)["code"]) == (500, "internal")
        streamed = await core.speak(engine="unruly", text="flood", stream=True)
    assert len(streamed.content) == 512 * 64 * 40


@pytest.mark.parametrize(
    ("stream", "stage"), [(True, "first audio"), (False, "audio")], ids=["streamed", "buffered"]
)
@pytest.mark.contract("d.deadlines.first-audio", "d.deadlines.buffered")
async def test_silence_is_unavailable_naming_the_stage(
    serve: Serve, unruly: EngineEntry, stream: bool, stage: str
) -> None:
    deadlines = Deadlines(first_audio_seconds=0.1, segment_seconds=0.1)
    async with serve({"unruly": unruly}, deadlines=deadlines) as core:
        answer = await core.speak(engine="unruly", text="hang", stream=stream)
    assert (answer.status_code, error(answer)["code"]) == (503, "model_unavailable")
    assert error(answer)["message"].startswith(f"{stage}: ")
    assert answer.headers["retry-after"]


async def test_an_entry_may_say_what_the_stages_of_its_engine_may_take(
    serve: Serve, unruly: EngineEntry
) -> None:
    quick = unruly.model_copy(update={"deadlines": EntryDeadlines(segment_seconds=0.1)})
    async with serve({"unruly": quick}) as core:
        answer = await core.speak(engine="unruly", text="hang")
    assert error(answer)["message"] == "audio: not there within 0.1 s"


@pytest.mark.contract("d.deadlines.first-audio")
async def test_the_time_to_the_first_audio_begins_when_earlier_requests_have_ended(
    serve: Serve, unruly: EngineEntry
) -> None:
    deadlines = Deadlines(first_audio_seconds=0.2, stall_seconds=0.5)
    async with serve({"unruly": unruly}, deadlines=deadlines) as core:
        await core.speak(engine="unruly", text="whole")

        async def first() -> None:
            with pytest.raises(httpx.RemoteProtocolError):
                await core.speak(engine="unruly", text="stall", stream=True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            await anyio.wait_all_tasks_blocked()
            answer = await core.speak(engine="unruly", text="hang", stream=True)
            # It waited longer than its own time, because it was not its turn; it is the silence of
            # the first that costs both the process.
            assert (answer.status_code, error(answer)["code"]) == (503, "model_unavailable")
            assert error(answer)["message"].startswith("stall: ")


@pytest.mark.contract("d.deadlines.stall")
async def test_a_stream_that_stalls_is_cut(serve: Serve, unruly: EngineEntry) -> None:
    async with serve({"unruly": unruly}, deadlines=Deadlines(stall_seconds=0.1)) as core:
        with pytest.raises(httpx.RemoteProtocolError):
            await core.speak(engine="unruly", text="stall", stream=True)


async def test_a_worker_that_exits_in_the_middle_is_internal_and_replaced(
    serve: Serve, unruly: EngineEntry
) -> None:
    async with serve({"unruly": unruly}) as core:
        answer = await core.speak(engine="unruly", text="exit now")
        assert (answer.status_code, error(answer)["code"]) == (500, "internal")
        assert "status 5" in error(answer)["message"]
        assert (await core.speak(engine="unruly", text="whole")).status_code == 200
        summary = (await core.http.get("/engines")).json()[0]
    assert summary["restarts"] == 1
    assert "status 5" in summary["lastError"]


@pytest.mark.contract("d.queue.hang-up")
async def test_a_client_that_leaves_frees_the_place_at_once(
    serve: Serve, unruly: EngineEntry, tone: Callable[..., EngineEntry]
) -> None:
    async with serve({"unruly": unruly, "tone": tone()}) as core:
        asked = {"engine": "unruly", "text": "stall", "stream": True}
        async with core.http.stream("POST", "/speak", json=asked) as speaking:
            body = speaking.aiter_raw()
            await anext(body)
        with anyio.fail_after(15):  # half of what the next one would wait for speaking to end
            assert (await core.speak(engine="tone", text="Hello")).status_code == 200


async def test_two_engines_take_turns_and_only_one_has_a_model(
    serve: Serve, tone: Callable[..., EngineEntry], second_tone: EngineEntry
) -> None:
    async with serve({"tone": tone(), "other": second_tone}) as core:
        for engine in ("tone", "other", "tone"):
            assert (await core.speak(engine=engine, text="Hello there")).status_code == 200
            loaded = {e["id"]: e for e in (await core.http.get("/engines")).json()}
            assert loaded[engine]["model"] == "loaded"
            others = [e for name, e in loaded.items() if name != engine]
            assert [(e["model"], e["process"]) for e in others] == [("unloaded", "down")]
            assert all(e["restarts"] == 0 for e in loaded.values())


@pytest.mark.contract("d.deadlines.eviction-wait")
async def test_an_engine_that_speaks_for_too_long_makes_the_next_one_unavailable(
    serve: Serve, tone: Callable[..., EngineEntry], unruly: EngineEntry
) -> None:
    residency = ResidencySettings(eviction_wait_seconds=0.2)
    engines = {"tone": tone(), "unruly": unruly}
    async with serve(engines, residency=residency) as core:
        await core.speak(engine="unruly", text="whole")
        asked = {"engine": "unruly", "text": "stall", "stream": True}
        async with core.http.stream("POST", "/speak", json=asked) as speaking:
            body = speaking.aiter_raw()
            await anext(body)
            answer = await core.speak(engine="tone", text="Hello")
            assert (answer.status_code, error(answer)["code"]) == (503, "model_unavailable")
            health = (await core.http.get("/health")).json()
            assert health["residency"] == {"resident": 1, "max": 1, "waiting": 0}


@pytest.mark.parametrize("stream", [False, True])
async def test_a_process_that_went_before_it_was_noticed_is_replaced_within_the_request(
    serve: Serve, tone: Callable[..., EngineEntry], stream: bool
) -> None:
    async with serve({"tone": tone()}) as core:
        await core.speak(engine="tone", text="Hello")
        session = await core.core.fleet.worker("tone").ensure_up()
        # What is left of a killed process in the moment before its exit is seen: nobody listens.
        await session.client.aclose()
        os.kill(session.pid, signal.SIGKILL)
        answer = await core.speak(engine="tone", text="Hello", stream=stream)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/wav")
