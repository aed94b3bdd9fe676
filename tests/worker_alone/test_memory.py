"""What a worker holds after many requests: cases.md 22."""

from pathlib import Path

import pytest

from .alone import Alone, alone
from .recordings import clip

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FORMATS = ("pcm", "wav", "mp3", "opus", "flac")
FLAT_BYTES = 4 * 1024 * 1024
"""What an allocator may keep; one request's audio in each answer would be thirty times that."""
BOUNDED_BYTES = 16 * 1024 * 1024
"""A second of each of the last voices is kept by the engine, 64 of them at most."""


async def speak_often(worker: Alone, times: int) -> None:
    for number in range(times):
        answer = await worker.speak(
            text="word " * 8, format=FORMATS[number % 5], stream=number % 2 == 0
        )
        assert answer.status == 200
        worker.wire.answers.clear()  # ours, not the worker's


async def test_case_22_after_five_hundred_requests_its_memory_is_flat(short_path: Path) -> None:
    async with alone(short_path, seconds=110) as worker:
        await speak_often(worker, 100)
        before = worker.resident_bytes()
        await speak_often(worker, 500)
        assert worker.resident_bytes() - before < FLAT_BYTES


async def test_case_22_two_hundred_made_voices_are_bounded(short_path: Path) -> None:
    async with alone(short_path, seconds=110) as worker:
        await speak_often(worker, 20)
        before = worker.resident_bytes()
        for number in range(200):
            made = await worker.make_voice(id=f"v{number}", label="V", reference=clip(200 + number))
            assert made.status == 201
            assert (await worker.speak(voice=f"v{number}")).status == 200
        assert worker.resident_bytes() - before < BOUNDED_BYTES
