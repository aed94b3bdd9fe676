"""Loads that hang, and that nobody waits for any more; with real processes."""

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.speech.deadlines import Deadlines
from rhapsode.workers.worker import Worker

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
Serve = Callable[..., AbstractAsyncContextManager[Any]]

HANGS = """
import threading
from rhapsode_engine_tone.engine import ToneEngine
from rhapsode_worker import serve

class Hangs(ToneEngine):
    def load(self, variant):
        if variant == "plain":
            threading.Event().wait()
        super().load(variant)

serve(Hangs())
"""
"""A tone engine of which one variant never loads."""


@pytest.fixture
def hanging() -> EngineEntry:
    return EngineEntry(command=(sys.executable, "-c", HANGS))


async def abandon_a_load(worker: Worker) -> None:
    """Begins a load that hangs, and leaves."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(worker.ensure_loaded, "plain")
        while worker.summary().model != "loading":
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def test_another_variant_does_not_wait_for_a_load_that_nobody_waits_for(
    open_worker: OpenWorker, hanging: EngineEntry
) -> None:
    async with open_worker(hanging, load_seconds=1000, grace_seconds=0.3) as worker:
        await abandon_a_load(worker)
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for _ in range(2):
                    tasks.start_soon(worker.ensure_loaded, "dialled")
        summary = worker.summary()
        assert (summary.variant, summary.restarts, summary.last_error) == ("dialled", 0, None)


async def test_whoever_wants_the_same_variant_waits_on(
    open_worker: OpenWorker, hanging: EngineEntry
) -> None:
    async with open_worker(hanging, load_seconds=1000, grace_seconds=0.3) as worker:
        await abandon_a_load(worker)
        session = await worker.ensure_up()
        with anyio.CancelScope() as leaving:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(worker.ensure_loaded, "plain")
                await anyio.wait_all_tasks_blocked()
                leaving.cancel()
        assert await worker.ensure_up() is session


async def test_an_unload_does_not_wait_for_a_load_that_nobody_waits_for(
    open_worker: OpenWorker, hanging: EngineEntry
) -> None:
    async with open_worker(hanging, load_seconds=1000, grace_seconds=0.3) as worker:
        await abandon_a_load(worker)
        with anyio.fail_after(20):
            await worker.unload()
        assert (worker.summary().process, worker.summary().model) == ("down", "unloaded")


async def test_another_engine_has_its_turn_behind_another_variant(
    serve: Serve, hanging: EngineEntry, second_tone: EngineEntry
) -> None:
    entries = {"tone": hanging, "other": second_tone}
    deadlines = Deadlines(load_seconds=1000)
    async with serve(entries, deadlines=deadlines, drain_grace_ms=300) as core:
        async with anyio.create_task_group() as leaving:
            leaving.start_soon(lambda: core.speak(engine="tone", text="Hi."))
            while (await core.http.get("/engines")).json()[0]["model"] != "loading":
                await anyio.lowlevel.checkpoint()
            leaving.cancel_scope.cancel()
        while (await core.http.get("/residency")).json()["models"][0]["leases"]:
            await anyio.lowlevel.checkpoint()
        spoken: list[str] = []

        async def speak(engine: str, **more: str) -> None:
            answer = await core.speak(engine=engine, text="Hi.", **more)
            assert answer.status_code == 200, answer.text
            spoken.append(engine)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: speak("tone", variant="dialled"))
            while not (await core.http.get("/residency")).json()["models"][0]["leases"]:
                await anyio.lowlevel.checkpoint()
            tasks.start_soon(speak, "other")
        assert spoken == ["tone", "other"]
