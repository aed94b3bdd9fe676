"""An engine that is declared anew, withdrawn, or asked for weights, with real processes."""

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.version import VERSION
from rhapsode.workers.worker import Worker
from rhapsode_contract import RhapsodeError, UnknownEngine, Unsupported

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
Tone = Callable[..., EngineEntry]

_FETCHING = """
import logging
from rhapsode_engine_tone.engine import ToneEngine
from rhapsode_worker import serve

class Fetching(ToneEngine):
    def fetch(self, variant):
        for received in (1, 2):
            about = {"event": "fetch", "received": received, "total": 2}
            logging.getLogger("weights").info("%s of 2 bytes of %s", received, variant, extra=about)

if __name__ == "__main__":
    serve(Fetching())
"""


async def test_the_next_process_is_what_was_declared_last(
    open_worker: OpenWorker, tone: Tone, tmp_path: Path
) -> None:
    other = EngineEntry(venv=tmp_path / "venv")
    (other.venv or tmp_path).mkdir()
    async with open_worker(tone()) as worker:
        first = await worker.ensure_up()
        worker.change(other)
        assert worker.entry != other  # it is the old process that runs yet
        assert await worker.ensure_up() is first
        await worker.end()
        assert worker.entry is other
        with pytest.raises(RhapsodeError, match="cannot be started"):
            await worker.ensure_up()
        worker.change(tone())
        assert worker.entry == tone()  # at once, where there is no process
        await worker.end()
        assert (await worker.ensure_up()).pid != first.pid


async def test_a_wait_for_the_next_process_gets_the_new_one(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone()) as worker:
        first = await worker.ensure_up()
        worker.change(tone("print"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.end)
            await anyio.wait_all_tasks_blocked()
            assert (await worker.ensure_up()).pid != first.pid
        assert worker.entry == tone("print")


async def test_one_that_is_withdrawn_starts_no_more(open_worker: OpenWorker, tone: Tone) -> None:
    async with open_worker(tone()) as worker:
        await worker.ensure_up()
        await worker.end()
        worker.withdraw()
        with pytest.raises(UnknownEngine, match="uninstalled"):
            await worker.ensure_up()


@pytest.mark.contract("9.versions.worker-version")
async def test_the_version_in_the_virtualenv_is_known_before_a_process_runs(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone()) as worker:
        summary = worker.summary()
        assert (summary.worker_version, summary.outdated) == (VERSION, False)
        assert summary.process == "down"
    async with open_worker(EngineEntry(command=(sys.executable, "-V"))) as worker:
        summary = worker.summary()
        assert (summary.worker_version, summary.outdated) == (None, None)


async def test_weights_are_fetched_by_the_worker_who_tells_how_far_it_is(
    open_worker: OpenWorker,
) -> None:
    heard: list[tuple[int, int | None]] = []
    entry = EngineEntry(command=(sys.executable, "-c", _FETCHING))
    async with open_worker(entry) as worker:
        await worker.fetch("plain", lambda received, total: heard.append((received, total)))
        assert heard == [(1, 2), (2, 2)]
        assert worker.resident_variant is None
        with pytest.raises(Unsupported, match="variant"):
            await worker.fetch("nonsense", lambda received, total: None)


async def test_an_engine_that_fetches_nothing_says_so(open_worker: OpenWorker, tone: Tone) -> None:
    async with open_worker(tone()) as worker:
        with pytest.raises(Unsupported, match="fetches nothing"):
            await worker.fetch("plain", lambda received, total: None)
