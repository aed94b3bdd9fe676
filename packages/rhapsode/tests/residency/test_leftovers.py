"""What a load that failed may have left on the card, in a process that is still up."""

import anyio
import pytest

from .card import Card, open_card

pytestmark = pytest.mark.anyio


async def fail_to_load(card: Card, name: str, keep_alive: int | None = None) -> None:
    """Asks for a model that does not load, and whose process stays."""
    async with card.manager.lease(name, "one", keep_alive):
        card.models.stranded.add(name)


async def test_a_process_that_has_failed_to_load_ends_with_its_keep_alive_and_not_before() -> None:
    async with open_card(keep_alive=30, most=3) as card:
        await fail_to_load(card, "a")
        assert card.manager.report().models == ()
        await card.until(40)
        await fail_to_load(card, "b", keep_alive=7)
        await card.until(60)
        await fail_to_load(card, "c", keep_alive=-1)
        await card.until(1000)
    assert card.when("end b") == 47
    assert card.when("end a") == 30
    assert card.models.stranded == {"c"}
    assert card.evicted == []  # they were no models


async def test_a_new_model_ends_a_process_that_has_failed_to_load_unless_it_is_its_own() -> None:
    async with open_card(most=2) as card:
        await fail_to_load(card, "a")
        await card.visit("a")
        assert "end a" not in card.events
        card.models.stranded.clear()
        await fail_to_load(card, "b")
        card.send("c")
        await card.until(1.5)
        brief = card.manager.summary()
        assert (brief.waiting, brief.blocked_by) == (1, "b")
    assert card.events.index("b gone") < card.events.index("c speaks")


async def test_everybody_who_waits_for_the_end_of_such_a_process_waits_without_a_deadline() -> None:
    async with open_card(most=3, wait=0.2) as card:
        await card.visit("a")
        await card.until(2)
        await card.visit("d")
        await fail_to_load(card, "b")
        for name in ("c", "c2", "e", "c3"):
            card.send(name)
    assert {"c speaks", "c2 speaks", "c3 speaks", "e speaks"} <= set(card.events)
    assert card.evicted == [("a", "room")]


@pytest.mark.parametrize("reason", ["room", "operator", "keep-alive"])
async def test_a_new_model_waits_for_the_end_of_such_a_process_whatever_it_ends_for(
    reason: str,
) -> None:
    async with open_card(most=2, keep_alive=3 if reason == "keep-alive" else -1) as card:
        card.models.end_seconds = 10
        await fail_to_load(card, "a")
        async with anyio.create_task_group() as operators:
            if reason == "operator":
                operators.start_soon(card.manager.free, "a", "terminate")
            await card.until(4)
            card.send("b")
            await card.until(5)
            brief = card.manager.summary()
            assert (brief.waiting, brief.blocked_by) == (1, "a")
    assert card.events.index("a gone") < card.events.index("b speaks")


async def test_an_end_that_nobody_has_failed_to_load_before_is_not_waited_for() -> None:
    async with open_card(most=2) as card, anyio.create_task_group() as operators:
        card.models.end_seconds = 10
        operators.start_soon(card.manager.free, "a", "terminate")
        await card.until(1)
        card.send("b")
    assert card.events.index("b speaks") < card.events.index("a gone")


async def test_such_a_process_is_not_forgotten_when_who_wanted_it_leaves_the_line() -> None:
    async with open_card(most=2, keep_alive=30) as card:
        async with card.manager.lease("a", "one"), card.manager.lease("b", "one"):
            card.models.stranded |= {"a", "b"}
        card.models.end_seconds = 10
        visitor = card.send("a")
        await card.until(5)
        assert card.manager.summary().blocked_by == "b"
        visitor.cancel()
        await card.until(100)
    assert card.when("end a") == 30
    assert card.models.stranded == set()


async def test_a_model_that_is_there_speaks_while_others_wait_for_the_end_of_such_a_process() -> (
    None
):
    async with open_card(most=3) as card:
        await card.visit("a")
        await fail_to_load(card, "c")
        card.models.end_seconds = 10
        card.send("b")
        await card.until(3)
        await card.visit("a2")
    assert card.events.index("a2 speaks") < card.events.index("c gone")
    assert card.events.index("c gone") < card.events.index("b speaks")
