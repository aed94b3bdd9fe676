"""What breaks inside a worker: cases.md 13, 23, and the worker's part of 24 and 26."""

import signal
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from rhapsode_contract import FORMATS
from rhapsode_http import UpstreamError

from .alone import MS_PER_CHARACTER, alone, is_alive, until

pytestmark = pytest.mark.anyio

LONG = "Word after word after word after word after word. " * 4
BYTES_PER_MS = 48


@pytest.mark.contract("6.abort.worker", "6.buffer.errors")
async def test_case_13_a_take_that_was_cut_off_is_never_a_short_success(short_path: Path) -> None:
    async with alone(short_path, adapter="limited") as worker:
        for format in FORMATS:
            asked = {"text": LONG, "variant": "whole", "format": format}
            whole = await worker.speak(**asked)
            assert (whole.status, whole.code) == (500, "internal"), format
            streamed = await worker.speak(**asked, stream=True)
            assert streamed.status != 200 or streamed.broken_off, format
            assert streamed.trailers == []


@pytest.mark.contract("8.split.own-size")
async def test_case_13_what_is_longer_than_a_take_is_split(short_path: Path) -> None:
    async with alone(short_path, adapter="limited") as worker:
        split = await worker.speak(text=LONG, variant="split")
    assert split.status == 200
    assert len(split.body) >= len(LONG.replace(" ", "")) * MS_PER_CHARACTER * BYTES_PER_MS


@pytest.mark.contract("6.errors.oom")
async def test_case_23_out_of_memory_may_be_tried_again_and_then_works(short_path: Path) -> None:
    async with alone(short_path, adapter="strained") as worker:
        for stage in ("load", "speak"):
            refused = await worker.speak()
            assert (refused.status, refused.code) == (503, "oom"), stage
            assert refused.error["retryable"] is True
            assert refused.header("retry-after")
        assert (await worker.speak()).status == 200
        assert worker.spawned.status is None


async def test_case_24_a_worker_whose_device_is_lost_ends_itself(short_path: Path) -> None:
    async with alone(short_path, adapter="lost", seconds=10) as worker:
        refused = await worker.speak()
        assert refused.status == 503
        assert refused.error["retryable"] is True
        assert await worker.spawned.exited() != 0


async def test_case_26_an_unload_that_hangs_holds_neither_health_nor_a_kill(
    short_path: Path,
) -> None:
    async with alone(short_path, "hang-in-unload") as worker:
        assert (await worker.speak(format="mp3")).status == 200
        children = worker.children()

        async def unload() -> None:
            with pytest.raises(UpstreamError):
                await worker.wire.post("/unload")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(unload)
            while (await worker.health())["model"] != "unloading":
                await anyio.lowlevel.checkpoint()
            assert (await worker.wire.get("/voices")).status == 200
            worker.spawned.signal(signal.SIGKILL)
            assert await worker.spawned.process.wait() == -signal.SIGKILL
        assert children
        await until(lambda: not any(map(is_alive, children)))


async def test_case_26_a_worker_that_is_told_twice_leaves_an_unload_that_hangs(
    short_path: Path,
) -> None:
    async with alone(short_path, "hang-in-unload") as worker:
        assert (await worker.speak()).status == 200

        async def unload() -> None:
            assert (await worker.wire.post("/unload")).status == 429

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(unload)
            while (await worker.health())["model"] != "unloading":
                await anyio.lowlevel.checkpoint()
            worker.spawned.signal(signal.SIGTERM)
            while (await worker.health())["process"] != "draining":
                await anyio.lowlevel.checkpoint()
            worker.spawned.signal(signal.SIGTERM)
            await worker.spawned.process.wait()
