"""What a process is wanted for that takes no place on the card: it keeps nobody waiting."""

import anyio
import pytest
from rhapsode.residency.visits import CutShort

from .card import Card, open_card

pytestmark = pytest.mark.anyio


async def upload(card: Card, engine: str, seconds: float) -> None:
    try:
        with card.manager.visit(engine):
            await anyio.sleep(seconds)
            card.note("uploaded")
    except CutShort:
        card.note("cut short")


@pytest.mark.contract("7.create.loads-nothing")
async def test_who_needs_the_place_does_not_wait_for_it() -> None:
    async with open_card() as card, anyio.create_task_group() as tasks:
        await card.visit("a")
        tasks.start_soon(upload, card, "a", 50)
        await card.until(10)
        await card.visit("b")
    assert card.events[2:] == ["cut short", "end a", "a gone", "b speaks", "b stops"]


async def test_it_takes_no_place() -> None:
    async with open_card() as card:
        with card.manager.visit("a"):
            assert card.is_bare
            await card.visit("b")
            assert card.evicted == []


async def test_nor_does_an_operator_who_ends_the_process() -> None:
    async with open_card() as card, anyio.create_task_group() as tasks:
        await card.visit("a")
        tasks.start_soon(upload, card, "a", 50)
        await card.until(10)
        await card.manager.free("a", "terminate")
        assert "cut short" in card.events


async def test_an_unload_that_keeps_the_process_leaves_it_alone() -> None:
    async with open_card() as card, anyio.create_task_group() as tasks:
        await card.visit("a")
        tasks.start_soon(upload, card, "a", 50)
        await card.until(10)
        await card.manager.free("a", "unload")
    assert card.events[-1] == "uploaded"


async def test_an_expiry_waits_for_it_and_comes_then() -> None:
    async with open_card(keep_alive=5) as card, anyio.create_task_group() as tasks:
        await card.visit("a")
        tasks.start_soon(upload, card, "a", 50)
        await card.until(40)
        assert card.only.expires_at is None
        await card.until(60)
        assert card.is_bare
    assert card.events[2:] == ["uploaded", "end a", "a gone"]
