"""Models that have to go and cannot be told: they keep their place until that is known."""

import anyio
import pytest
from rhapsode.residency.models import Mode
from rhapsode_contract import ModelUnavailable

from .card import open_card

pytestmark = pytest.mark.anyio


async def test_the_place_of_one_that_could_not_be_told_to_go_is_not_free() -> None:
    async with open_card() as card:
        await card.visit("a")
        card.models.deaf.add("a")
        for _ in range(2):  # the second hears it at once, since nobody is told again for now
            with pytest.raises(ModelUnavailable, match="wait for room: 'a' .*it did not hear"):
                await card.visit("b")
        assert (card.only.engine, card.manager.summary().waiting) == ("a", 0)
        assert card.events == ["a speaks", "a stops", "end a"]


async def test_one_that_could_not_be_told_is_told_again_once_it_is_met_again() -> None:
    async with open_card() as card:
        await card.visit("a")
        card.models.deaf.add("a")
        with pytest.raises(ModelUnavailable):
            await card.visit("b")
        card.models.deaf.clear()
        card.meet("a")
        await card.visit("b")
    assert card.events[2:] == ["end a", "end a", "a gone", "b speaks", "b stops"]


async def test_an_expiry_that_cannot_be_told_is_tried_again_once_it_is_met_again() -> None:
    async with open_card(keep_alive=5) as card:
        await card.visit("a")
        card.models.deaf.add("a")
        await card.until(100)
        assert card.only.expires_at is None
        card.models.deaf.clear()
        card.meet("a")
        await card.until(200)
        assert card.is_bare
    assert card.evicted == [("a", "keep-alive")] * 2


async def test_one_that_was_to_end_for_another_reason_and_was_not_told_keeps_its_place_too() -> (
    None
):
    async with open_card() as card:
        await card.visit("a")
        card.models.unheard.add("a")
        card.models.crash("a")
        with pytest.raises(ModelUnavailable, match="could not be told"):
            await card.visit("b")
        card.models.lose("a")
        await card.visit("b")


async def test_where_nobody_is_met_again_the_place_is_free() -> None:
    async with open_card() as card:
        await card.visit("a")
        card.models.deaf.add("a")
        with pytest.raises(ModelUnavailable):
            await card.visit("b")
        card.models.lose("a")
        assert card.is_bare
        await card.visit("b")


async def test_one_that_could_not_be_told_speaks_for_who_reaches_it() -> None:
    async with open_card() as card:
        await card.visit("a")
        card.models.deaf.add("a")
        with pytest.raises(ModelUnavailable):
            await card.visit("b")
        card.models.unheard.clear()
        await card.visit("a2")
    assert card.only.leases == 0


async def test_of_several_another_one_goes_where_the_first_cannot_be_told() -> None:
    async with open_card(most=2) as card:
        await card.visit("a")
        await card.visit("b")
        card.models.deaf.add("a")
        await card.visit("c")
        assert {model.engine for model in card.manager.report().models} == {"a", "c"}
    assert card.evicted == [("a", "room"), ("b", "room")]


@pytest.mark.parametrize("mode", ["terminate", "unload"])
async def test_everybody_who_frees_one_that_cannot_be_told_hears_of_it(mode: Mode) -> None:
    refused: list[str] = []

    async def free() -> None:
        with pytest.raises(ModelUnavailable, match="did not hear"):
            await card.manager.free("a", mode)
        refused.append(mode)

    async with open_card() as card:
        await card.visit("a")
        card.models.deaf.add("a")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(free)
            tasks.start_soon(free)
    assert len(refused) == 2
