"""An engine that nobody may speak on for a while, since it is being changed or removed."""

import anyio
import pytest
from rhapsode.residency.plan import Grant, Place, Wait, Want, plan
from rhapsode_contract import Conflict, ModelUnavailable, UnknownEngine

from .card import Card, open_card

pytestmark = pytest.mark.anyio

A, B = Want("a", "one"), Want("b", "one")


def test_nobody_gets_a_lease_on_an_engine_that_is_shut() -> None:
    assert plan([], [A], 1, {"a"}) == Wait("a", frozenset({0}))
    assert plan([Place("a", "one", 0)], [A], 1, {"a"}) == Wait("a", frozenset({0}))
    assert plan([Place("a", "one", 1)], [A], 1, {"a"}) == Wait("a")


def test_it_keeps_nobody_from_another_engine() -> None:
    assert plan([], [A, B], 1, {"a"}) == Grant(1)


async def shut(card: Card, engine: str, wait_seconds: float, for_seconds: float) -> None:
    async with card.manager.shut(engine, wait_seconds):
        card.note(f"{engine} shut")
        await anyio.sleep(for_seconds)
        card.note(f"{engine} opens")


@pytest.mark.contract("10.reinstall.waits-for-speaking")
async def test_who_speaks_is_waited_for_and_who_comes_waits() -> None:
    async with open_card() as card, anyio.create_task_group() as tasks:
        card.send("a", seconds=3)
        await card.until(1)
        tasks.start_soon(shut, card, "a", 600, 50)
        await card.until(2)
        card.send("a", seconds=1)
    assert card.events == ["a speaks", "a stops", "a shut", "a opens", "a speaks", "a stops"]
    assert (card.when("a shut"), card.when("a opens")) == (3, 53)


async def test_one_that_still_speaks_at_the_end_of_the_wait_is_a_conflict() -> None:
    async with open_card() as card:
        card.send("a", seconds=700)
        await card.until(1)
        with pytest.raises(Conflict, match="speaking still, after 600 s"):
            await shut(card, "a", 600, 0)
        await card.visit("a")
    assert card.events == ["a speaks", "a speaks", "a stops", "a stops"]


@pytest.mark.contract("10.uninstall.speaking")
async def test_without_a_wait_it_is_one_at_once() -> None:
    async with open_card() as card:
        card.send("a", seconds=7)
        await card.until(1)
        with pytest.raises(Conflict):
            await shut(card, "a", 0, 0)
        assert card.when("a speaks") == 0
        await shut(card, "b", 0, 1)
    assert "b opens" in card.events


async def test_a_long_utterance_costs_nobody_else_a_turn_while_it_is_waited_for() -> None:
    async with open_card(wait=30) as card, anyio.create_task_group() as tasks:
        card.send("a", seconds=100)
        await card.until(1)
        tasks.start_soon(shut, card, "a", 600, 1)
        await card.until(2)
        await card.visit("a", seconds=1)  # not refused, and not after the long one
        assert "a stops" in card.events
        assert "a shut" not in card.events
    assert card.when("a shut") >= 100


async def test_it_finishes_on_an_engine_that_never_falls_silent_by_itself() -> None:
    async with open_card(wait=30) as card, anyio.create_task_group() as tasks:
        card.send("a", seconds=5)
        await card.until(1)
        tasks.start_soon(shut, card, "a", 600, 1)
        for start in range(2, 300, 2):
            await card.until(start)
            card.send("a", seconds=5)
    assert card.when("a shut") < 60


async def test_nobody_shuts_what_is_shut() -> None:
    async with open_card() as card, anyio.create_task_group() as tasks:
        tasks.start_soon(shut, card, "a", 0, 5)
        await card.until(1)
        with pytest.raises(Conflict, match="changed already"):
            await shut(card, "a", 0, 0)


async def test_giving_up_opens_it() -> None:
    async with open_card(wait=30) as card:
        card.send("a", seconds=100)
        await card.until(1)
        with anyio.move_on_after(5):
            await shut(card, "a", 600, 0)
        await card.visit("a")
    assert card.when("a stops") == 7


async def test_one_who_waits_for_a_shut_engine_is_told_what_for() -> None:
    async with open_card(wait=10) as card, anyio.create_task_group() as tasks:
        card.send("a", seconds=100)
        await card.until(1)
        tasks.start_soon(shut, card, "a", 600, 0)
        await card.until(2)
        card.change(eviction_wait_seconds=1)
        with pytest.raises(ModelUnavailable, match="a change of it"):
            await card.visit("a")
        tasks.cancel_scope.cancel()


async def test_nobody_else_shuts_it_while_the_first_waits_for_silence() -> None:
    async with open_card(wait=30) as card, anyio.create_task_group() as tasks:
        card.send("a", seconds=100)
        await card.until(1)
        tasks.start_soon(shut, card, "a", 600, 5)
        await card.until(20)  # it is open for a turn
        with pytest.raises(Conflict, match="changed already"):
            await shut(card, "a", 600, 0)
    assert card.events.count("a shut") == 1


async def test_where_nobody_waits_for_others_to_finish_nobody_is_refused_for_a_change() -> None:
    async with open_card(wait=0) as card, anyio.create_task_group() as tasks:
        card.send("a", seconds=10)
        await card.until(1)
        tasks.start_soon(shut, card, "a", 600, 1)
        for second in range(2, 9):
            await card.until(second + 0.05)
            await card.visit("a", seconds=0.3)
    assert card.when("a shut") < 11


async def test_who_waits_for_an_engine_that_goes_is_sent_away_at_once() -> None:
    async with open_card(wait=1000) as card, anyio.create_task_group() as tasks:
        card.send("b", seconds=100)
        await card.until(1)

        async def ask() -> None:
            with pytest.raises(UnknownEngine):
                await card.visit("a")
            card.note("a refused")

        tasks.start_soon(ask)
        card.send("b2")
        await card.until(2)
        card.manager.dismiss("a", lambda: UnknownEngine("gone"))
        await card.until(3)
        assert card.manager.summary().waiting == 0  # nor does it stand in the way of others
    assert card.when("a refused") == 2
