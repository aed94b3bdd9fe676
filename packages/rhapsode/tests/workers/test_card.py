"""Waiting for a card's memory, with a driver of the test's own."""

import logging
from collections.abc import Iterator
from itertools import chain, repeat

import anyio
import pytest
from rhapsode.workers.card import Card

pytestmark = pytest.mark.anyio

MODEL_BYTES = 1000


class Driver:
    """Tells one reading after the other, and the last one for ever."""

    def __init__(self, *readings: int | None) -> None:
        self._readings: Iterator[int | None] = chain(readings, repeat(readings[-1]))
        self.asked: list[int] = []

    def __call__(self, index: int) -> int | None:
        self.asked.append(index)
        return next(self._readings)


async def test_it_waits_until_most_of_what_the_model_took_is_free() -> None:
    driver = Driver(5000, 5000, 4500, 4101, 4100, 4000)
    with anyio.fail_after(5):
        await Card(driver).memory_is_back("cuda:1", 5000, MODEL_BYTES)
    assert driver.asked == [1] * 5


async def test_memory_that_does_not_come_back_is_not_waited_for_for_ever(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with anyio.fail_after(5):
        await Card(Driver(5000), longest_wait_seconds=0.1).memory_is_back("cuda:0", 5000, 1000)
    assert [record.getMessage() for record in caplog.records] == [
        "the memory of a model on cuda:0 is not back"
    ]


@pytest.mark.parametrize(
    ("before", "size_bytes"), [(None, MODEL_BYTES), (5000, None), (None, None)]
)
async def test_what_nobody_measured_is_not_waited_for(
    before: int | None, size_bytes: int | None
) -> None:
    driver = Driver(5000)
    with anyio.fail_after(5):
        await Card(driver).memory_is_back("cuda:0", before, size_bytes)
    assert driver.asked == []


async def test_a_driver_that_stops_answering_ends_the_wait() -> None:
    with anyio.fail_after(5):
        await Card(Driver(5000, None)).memory_is_back("cuda:0", 5000, MODEL_BYTES)


@pytest.mark.parametrize("device", [None, "cpu", "mps", "cuda", "cuda:x"])
def test_only_a_card_of_its_driver_is_asked_about(device: str | None) -> None:
    driver = Driver(5000)
    assert Card(driver).used_bytes(device) is None
    assert driver.asked == []
