"""Many requests at once to one worker: cases.md 17, 18 and 19."""

from pathlib import Path

import anyio
import pytest
from rhapsode_conform.answer import Answer

from .alone import Alone, alone

pytestmark = pytest.mark.anyio

VOICES = ("a3", "a4", "c5", "e5", "a5")
REFUSALS = {429, 503}


async def ask_together(worker: Alone, asked: list[dict[str, object]]) -> dict[int, Answer]:
    """Sends all of them at once; returns the answers by their place."""
    answers: dict[int, Answer] = {}

    async def ask(number: int) -> None:
        answers[number] = await worker.speak(**asked[number])

    async with anyio.create_task_group() as tasks:
        for number in range(len(asked)):
            tasks.start_soon(ask, number)
    return answers


@pytest.mark.parametrize("format", ["pcm", "flac", "opus"])
@pytest.mark.contract("6.seed.reproduces")
async def test_case_17_twenty_at_once_are_each_what_they_are_alone(
    format: str, short_path: Path
) -> None:
    asked: list[dict[str, object]] = [
        {
            "text": f"Number {n}.",
            "voice": VOICES[n % len(VOICES)],
            "seed": n,
            "format": format,
            "stream": n % 2 == 0,
        }
        for n in range(20)
    ]
    async with alone(short_path) as worker:
        solo = [(await worker.speak(**one)).body for one in asked]
        together = await ask_together(worker, asked)
    assert [together[number].body for number in range(20)] == solo
    assert len(set(solo)) == 20


@pytest.mark.slow
@pytest.mark.contract("6.errors.overloaded", "d.queue.limit", "d.errors.retry-after")
async def test_case_18_two_hundred_at_once_are_spoken_or_told_to_come_back(
    short_path: Path,
) -> None:
    text = "word " * 40
    async with alone(short_path) as worker:
        whole = (await worker.speak(text=text)).body
        answers = await ask_together(worker, [{"text": text}] * 200)
        statuses = [answer.status for answer in answers.values()]
        assert set(statuses) <= {200, *REFUSALS}
        # One speaks and 32 wait, so that at least these are spoken.
        assert statuses.count(200) >= 33
        for answer in answers.values():
            if answer.status == 200:
                assert answer.body == whole
            else:
                assert answer.header("retry-after")
                assert answer.error["retryable"] is True
        assert worker.spawned.status is None
        assert (await worker.speak()).status == 200


@pytest.mark.contract("d.queue.responsive")
async def test_case_18_the_limit_counts_only_speaking(short_path: Path) -> None:
    async with alone(short_path, "hang-in-speak") as worker, anyio.create_task_group() as tasks:
        refused: list[Answer] = []

        async def ask() -> None:
            refused.append(await worker.speak())

        for _ in range(34):
            tasks.start_soon(ask)
        while not refused:
            await worker.health()
        assert refused[0].code == "overloaded"
        for target in ("/health", "/capabilities", "/voices"):
            assert (await worker.wire.get(target)).status == 200
        tasks.cancel_scope.cancel()


@pytest.mark.contract("8.serial.concurrency")
async def test_case_19_an_engine_that_can_speak_two_at_once_does(short_path: Path) -> None:
    async with alone(short_path, adapter="duet") as worker:
        answers = await ask_together(worker, [{"text": "One."}, {"text": "Two."}])
    assert [answer.status for answer in answers.values()] == [200, 200]
