"""A worker at its hardest still says how it is: cases.md 21.

The case wants each answer within a tenth of a second. A test allows ten times that.
"""

import signal
from collections.abc import Callable, Coroutine
from pathlib import Path

import anyio
import pytest
from rhapsode_http import UpstreamError

from .alone import MS_PER_CHARACTER, Alone, alone

pytestmark = pytest.mark.anyio

ASKED = 200
WITHIN_SECONDS = 1.0
HALF_A_MINUTE = "a" * (30_000 // MS_PER_CHARACTER)
FIVE_MINUTES_AT_HALF_SPEED = "a" * (150_000 // MS_PER_CHARACTER)


async def answers_beside(
    worker: Alone, work: Callable[[], Coroutine[None, None, None]], is_on: str
) -> None:
    """Asks for health again and again while something goes on, which is given up afterwards."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        await worker.says(is_on)
        for _ in range(ASKED):
            with anyio.fail_after(WITHIN_SECONDS):
                assert (await worker.health())["process"] == "up"
        tasks.cancel_scope.cancel()


@pytest.mark.contract("d.queue.responsive")
async def test_case_21_health_answers_during_half_a_minute_of_speech(short_path: Path) -> None:
    async with alone(short_path, "pace=1") as worker:

        async def speak() -> None:
            await worker.speak(text=HALF_A_MINUTE, format="mp3", stream=True)

        await answers_beside(worker, speak, "speaking")


@pytest.mark.contract("d.queue.responsive")
async def test_case_21_health_answers_during_a_load(short_path: Path) -> None:
    async with alone(short_path, "hang-in-load") as worker:

        async def load() -> None:
            with pytest.raises(UpstreamError):
                await worker.wire.post("/load")

        await answers_beside(worker, load, "loading")
        assert (await worker.health())["model"] == "loading"
        worker.spawned.signal(signal.SIGKILL)  # it would wait for the load


@pytest.mark.slow
@pytest.mark.contract("d.queue.responsive")
async def test_case_21_health_answers_while_ten_minutes_of_flac_are_made(
    short_path: Path,
) -> None:
    """Two of five minutes each, whole, until both have come."""
    spoken: list[int] = []
    asked = {
        "text": FIVE_MINUTES_AT_HALF_SPEED,
        "variant": "dialled",
        "params": {"speed": 0.5},
        "format": "flac",
    }
    async with alone(short_path) as worker:

        async def speak() -> None:
            answer = await worker.speak(**asked)
            assert answer.header("x-rhapsode-duration-ms") == "300000"
            spoken.append(answer.status)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            tasks.start_soon(speak)
            while len(spoken) < 2:
                with anyio.fail_after(WITHIN_SECONDS):
                    assert (await worker.health())["process"] == "up"
    assert spoken == [200, 200]
