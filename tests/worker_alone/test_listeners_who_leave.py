"""Clients that go away at any moment: cases.md 14 and 16."""

import random
from pathlib import Path

import anyio
import pytest
from rhapsode_conform.wire import Wire
from rhapsode_contract import FORMATS

from .alone import MS_PER_CHARACTER, Alone, alone, until

pytestmark = pytest.mark.anyio

A_MINUTE = "a" * (60_000 // MS_PER_CHARACTER)
KEPT_WARM = 2
"""Encoders that wait for a response at most."""
LEFT_OVER = 50
"""Threads of a pool and the sockets of warm encoders stay. One file or thread for each listener
who left would be a hundred."""
WITHIN_SECONDS = 10
"""Ten times what the case allows."""


@pytest.mark.contract("d.queue.hang-up")
@pytest.mark.parametrize("format", ["pcm", "mp3"])
async def test_case_14_a_worker_whose_listener_left_is_free_for_the_next(
    format: str, short_path: Path
) -> None:
    asked = b'{"text": "%s", "format": "%s", "stream": true}' % (A_MINUTE.encode(), format.encode())
    async with alone(short_path, "pace=1") as worker:
        async with worker.wire.open("POST", "/speak", asked, "application/json") as speech:
            assert await speech.read()
        with anyio.fail_after(WITHIN_SECONDS):
            await worker.says("stopped after")
            answer = await worker.speak(text="Hi.", format=format)
        assert answer.status == 200
        assert worker.spawned.status is None


@pytest.mark.slow
async def test_case_16_two_hundred_requests_half_of_them_abandoned_leave_nothing_behind(
    short_path: Path,
) -> None:
    draw = random.Random(16)
    async with alone(short_path) as worker:
        await worker.speak()
        before = worker.open_files() + worker.threads()
        for _ in range(4):
            leaving = [draw.random() / 5 if number % 2 else None for number in range(50)]
            await _crowd(worker, leaving, draw)
        assert (await worker.speak()).status == 200
        await until(lambda: len(worker.children()) <= KEPT_WARM)
        await until(lambda: worker.open_files() + worker.threads() < before + LEFT_OVER)
        assert list((short_path / "tmp").iterdir()) == []
        assert worker.spawned.status is None
        assert (await worker.health())["model"] == "loaded"


async def _crowd(worker: Alone, leaving: list[float | None], draw: random.Random) -> None:
    """Asks for speech as often as `leaving` is long; each listener leaves after so many seconds.

    Its connections end with it: one that is kept would count as a file that is.
    """
    crowd = Alone(worker.spawned, Wire(worker.wire.address))

    async def ask(format: str, is_streamed: bool, leaves_after: float | None) -> None:
        with anyio.CancelScope() if leaves_after is None else anyio.move_on_after(leaves_after):
            answer = await crowd.speak(text="word " * 50, format=format, stream=is_streamed)
            assert answer.status in {200, 429}

    try:
        async with anyio.create_task_group() as tasks:
            for leaves_after in leaving:
                tasks.start_soon(ask, draw.choice(FORMATS), draw.random() < 0.5, leaves_after)
    finally:
        await crowd.wire.aclose()
