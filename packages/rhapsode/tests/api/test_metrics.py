"""`GET /metrics`, read as Prometheus reads it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from prometheus_client.parser import text_string_to_metric_families
from rhapsode.settings.entry import EngineEntry

pytestmark = pytest.mark.anyio

Serve = Callable[..., AbstractAsyncContextManager[Any]]
Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def figures(served: Any) -> Figures:
    """Asks for every sample there is."""
    answer = await served.http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return f"rhapsode_{name}", frozenset(labels.items())


async def test_reading_them_starts_nothing(serve: Serve, tone: Callable[..., EngineEntry]) -> None:
    async with serve({"tone": tone()}) as served:
        seen = await figures(served)
        assert seen[key("worker_up", engine="tone")] == 0
        assert seen[key("queue_length")] == 0
        assert seen[key("resident_models_max")] == 1
        assert served.core.fleet.worker("tone").summary().process == "down"


async def test_speech_is_counted_by_engine_variant_and_how_it_ended(
    serve: Serve, tone: Callable[..., EngineEntry]
) -> None:
    async with serve({"tone": tone()}) as served:
        for stream in (False, True):
            answer = await served.speak(engine="tone", text="A sentence.", stream=stream)
            assert answer.status_code == 200
        await served.speak(engine="tone", text="Hello.", voice="nobody")
        await served.speak(engine="tone", text="Hello.", variant="none-such")
        await served.speak(engine="nobody-knows", text="Hello.")
        seen = await figures(served)
    spoken = {"engine": "tone", "variant": "plain"}
    assert seen[key("requests_total", **spoken, outcome="ok")] == 2
    assert seen[key("requests_total", **spoken, outcome="unknown_voice")] == 1
    assert seen[key("requests_total", engine="tone", variant="", outcome="unsupported")] == 1
    assert seen[key("first_byte_seconds_count", **spoken)] == 2
    assert seen[key("audio_seconds_total", **spoken)] == pytest.approx(2 * 11 * 0.06, abs=0.01)
    assert seen[key("resident_models", **spoken)] == 1
    assert seen[key("worker_up", engine="tone")] == 1
    # A name that a stranger makes up is no label.
    assert not any("nobody-knows" in str(labels) for _, labels in seen)


async def test_a_client_that_leaves_is_counted_as_one(
    serve: Serve, tone: Callable[..., EngineEntry]
) -> None:
    outcome = key("requests_total", engine="tone", variant="plain", outcome="left")
    async with serve({"tone": tone("pace=1")}) as served:
        body = {"engine": "tone", "text": "A long sentence.", "stream": True}
        async with served.http.stream("POST", "/speak", json=body) as response:
            await anext(response.aiter_bytes())
        while outcome not in await figures(served):
            await anyio.lowlevel.checkpoint()


async def test_models_that_go_are_counted_with_the_reason(
    serve: Serve, tone: Callable[..., EngineEntry], second_tone: EngineEntry
) -> None:
    async with serve({"tone": tone(), "other": second_tone}) as served:
        await served.speak(engine="tone", text="Hello.")
        await served.speak(engine="other", text="Hello.")
        assert (await served.http.post("/engines/other/unload")).status_code == 200
        await served.speak(engine="tone", text="Hello.", keepAliveSeconds=0)
        expired = key("evictions_total", engine="tone", reason="keep-alive")
        while expired not in (seen := await figures(served)):
            await anyio.lowlevel.checkpoint()
    assert seen[key("evictions_total", engine="tone", reason="room")] == 1
    assert seen[key("evictions_total", engine="other", reason="operator")] == 1
    assert seen[expired] == 1


async def test_ends_that_nobody_asked_for_are_counted(
    serve: Serve, tone: Callable[..., EngineEntry]
) -> None:
    async with serve({"tone": tone()}) as served:
        worker = served.core.fleet.worker("tone")
        session = await worker.ensure_up()
        worker.kill()
        await session.ended.wait()
        assert (await figures(served))[key("restarts_total", engine="tone")] == 1
