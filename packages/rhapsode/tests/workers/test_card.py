"""Waiting for a card's memory, with a driver of the test's own."""

import logging
from collections.abc import Iterator, Sequence
from itertools import chain, repeat

import anyio
import pytest
from rhapsode.workers.card import Card
from rhapsode.workers.nvidia import CardUnreadable, NvidiaCard

pytestmark = pytest.mark.anyio

MODEL_BYTES = 1000
FIRST, SECOND = "GPU-first", "GPU-second"


class ScriptedDriver:
    """Tells one reading after the other, and the last one for ever; None where it says nothing."""

    def __init__(self, *readings: int | None, cards: Sequence[str] = (FIRST, SECOND)) -> None:
        self._readings: Iterator[int | None] = chain(readings, repeat(readings[-1]))
        self._cards = [NvidiaCard(uuid) for uuid in cards]
        self.asked: list[str] = []

    def cards(self) -> Sequence[NvidiaCard]:
        return self._cards

    def used_bytes(self, uuid: str) -> int:
        self.asked.append(uuid)
        reading = next(self._readings)
        if reading is None:
            raise CardUnreadable("it has gone")
        return reading


async def test_it_waits_until_most_of_what_the_model_took_is_free() -> None:
    driver = ScriptedDriver(5000, 5000, 4500, 4101, 4100, 4000)
    with anyio.fail_after(5):
        await Card(driver).memory_is_back("cuda:1", 5000, MODEL_BYTES)
    assert driver.asked == [SECOND] * 5


async def test_the_card_that_is_read_is_the_one_that_the_worker_sees() -> None:
    driver = ScriptedDriver(5000, 4000)
    card = Card(driver).seen_with({"CUDA_VISIBLE_DEVICES": "GPU-s"})
    with anyio.fail_after(5):
        before = card.used_bytes("cuda:0")
        await card.memory_is_back("cuda:0", before, MODEL_BYTES)
    assert (before, driver.asked) == (5000, [SECOND, SECOND])


async def test_a_card_that_cannot_be_told_is_not_waited_for_and_that_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    driver = ScriptedDriver(5000)
    card = Card(driver).seen_with({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"})
    for _ in range(3):
        assert card.used_bytes("cuda:0") is None
        with anyio.fail_after(5):
            await card.memory_is_back("cuda:0", 5000, MODEL_BYTES)
    assert driver.asked == []
    assert len(caplog.records) == 1
    assert "CUDA_DEVICE_ORDER" in caplog.records[0].getMessage()


async def test_memory_that_does_not_come_back_is_not_waited_for_for_ever(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    card = Card(ScriptedDriver(5000), longest_wait_seconds=0.1)
    with anyio.fail_after(5):
        await card.memory_is_back("cuda:0", 5000, 1000)
    assert [record.getMessage() for record in caplog.records] == [
        "the memory of a model on cuda:0 is not back"
    ]


@pytest.mark.parametrize(
    ("before", "size_bytes"), [(None, MODEL_BYTES), (5000, None), (None, None)]
)
async def test_what_nobody_measured_is_not_waited_for(
    before: int | None, size_bytes: int | None
) -> None:
    driver = ScriptedDriver(5000)
    with anyio.fail_after(5):
        await Card(driver).memory_is_back("cuda:0", before, size_bytes)
    assert driver.asked == []


async def test_a_driver_that_stops_answering_ends_the_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with anyio.fail_after(5):
        await Card(ScriptedDriver(5000, None)).memory_is_back("cuda:0", 5000, MODEL_BYTES)
    assert "it has gone" in caplog.records[0].getMessage()


@pytest.mark.parametrize("device", [None, "cpu", "mps", "cuda", "cuda:x", "rocm:0"])
def test_only_a_card_of_its_driver_is_asked_about(
    device: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    driver = ScriptedDriver(5000)
    assert Card(driver).used_bytes(device) is None
    assert driver.asked == []
    assert not caplog.records
