"""How long an idle model stays on the card, on a clock that jumps."""

import pytest

from .card import open_card

pytestmark = pytest.mark.anyio


@pytest.mark.contract("3.keep-alive.deadline", "3.keep-alive.terminates")
async def test_a_model_expires_by_the_end_of_its_process_counted_from_the_last_lease() -> None:
    async with open_card(keep_alive=300) as card:
        card.send("a1", 2)
        await card.visit("a2", 10)
        await card.until(1000)
        assert card.is_bare
    assert card.diary[-2:] == [(310, "end a"), (311, "a gone")]
    assert card.evicted == [("a", "keep-alive")]


@pytest.mark.contract("3.keep-alive.deadline")
async def test_a_new_request_begins_the_keep_alive_anew() -> None:
    async with open_card(keep_alive=10) as card:
        await card.visit("a1")
        await card.until(8)
        await card.visit("a2", 5)
        await card.until(100)
    assert card.when("end a") == 8 + 5 + 10


@pytest.mark.contract("3.keep-alive.deadline")
async def test_a_keep_alive_of_0_frees_the_model_as_its_last_request_ends() -> None:
    async with open_card(keep_alive=0) as card:
        card.send("a1", 1)
        card.send("a2", 2)
        await card.until(5)
        assert card.is_bare
    assert card.diary[-2:] == [(2, "end a"), (3, "a gone")]


async def test_a_keep_alive_of_0_does_not_end_a_model_that_the_next_in_line_wants() -> None:
    async with open_card(keep_alive=0) as card:
        card.send("a1")
        card.send("a2", variant="two")
        await card.until(5)
    assert card.events[:3] == ["a1 speaks", "a1 stops", "a2 speaks"]
    assert card.evicted == [("a", "keep-alive")]


@pytest.mark.contract("3.keep-alive.deadline")
async def test_a_keep_alive_of_minus_1_never_expires() -> None:
    async with open_card(keep_alive=1) as card:
        await card.visit("a", keep_alive=-1)
        await card.until(90_000)
        assert card.only.keep_alive_seconds == -1
        assert card.only.expires_at is None


@pytest.mark.contract("3.keep-alive.precedence", "3.keep-alive.per-engine")
@pytest.mark.parametrize(
    ("own", "asked", "in_force"), [(None, None, 300), (20, None, 20), (20, 7, 7), (None, 7, 7)]
)
async def test_the_requests_keep_alive_goes_before_the_engines_and_that_before_the_servers(
    own: int | None, asked: int | None, in_force: int
) -> None:
    keep_alives = {} if own is None else {"a": own}
    async with open_card(keep_alive=300, keep_alives=keep_alives) as card:
        await card.visit("a", keep_alive=asked)
        assert card.only.keep_alive_seconds == in_force
        await card.until(1000)
    assert card.when("end a") == 1 + in_force


@pytest.mark.contract("3.keep-alive.last-wins")
@pytest.mark.parametrize(("last", "in_force"), [(50, 50), (None, 20)])
async def test_the_last_to_take_its_lease_decides_and_silence_puts_the_engines_own_back(
    last: int | None, in_force: int
) -> None:
    async with open_card(keep_alives={"a": 20}) as card:
        card.send("a1", 10, keep_alive=-1)  # ends last, but took its lease first
        await card.until(1)
        await card.visit("a2", keep_alive=last)
        await card.until(10.5)
        assert card.only.keep_alive_seconds == in_force
        await card.until(1000)
    assert card.when("end a") == 10 + in_force


@pytest.mark.contract("3.keep-alive.last-wins")
async def test_one_that_waits_decides_nothing_until_it_takes_its_lease() -> None:
    async with open_card() as card:
        card.send("a1", keep_alive=5)
        left = card.send("a2", variant="two", keep_alive=100)
        await card.until(0.5)
        assert card.only.keep_alive_seconds == 5
        left.cancel()


@pytest.mark.contract("3.policy.live-settings")
async def test_a_changed_keep_alive_moves_the_deadlines_of_idle_models() -> None:
    async with open_card(most=2, keep_alive=300) as card:
        await card.visit("a")
        await card.visit("b", keep_alive=100)
        await card.until(50)
        card.change(keep_alive_seconds=60)
        await card.until(90)
    assert card.when("end a") == 61
    assert card.evicted == [("a", "keep-alive")]  # that of a request stands


async def test_a_shorter_keep_alive_that_is_over_already_ends_the_model_at_once() -> None:
    async with open_card(keep_alive=-1) as card:
        await card.visit("a")
        await card.until(50)
        card.change(keep_alive_seconds=10)
        await card.until(60)
    assert card.when("end a") == 50


async def test_a_longer_keep_alive_lets_idle_models_stay_longer() -> None:
    async with open_card(keep_alive=10) as card:
        await card.visit("a")
        await card.until(5)
        card.change(keep_alive_seconds=20)
        await card.until(100)
    assert card.when("end a") == 21


@pytest.mark.parametrize("seconds", [-1, 10])
async def test_nothing_expires_after_the_end(seconds: int) -> None:
    async with open_card(keep_alive=seconds) as card:
        await card.visit("a")
        card.manager.close()
        await card.until(100)
        await card.visit("a", keep_alive=0)
        await card.until(200)
    assert "end a" not in card.events


# What takes no place and is not to be cut.


async def test_what_an_engine_is_busy_with_otherwise_puts_off_an_expiry_and_no_longer() -> None:
    async with open_card(keep_alive=10) as card:
        with card.manager.visit("a"), card.manager.visit("a"):
            await card.visit("a1")
            await card.until(50)
            assert card.only.expires_at is None
        await card.until(100)
        assert card.is_bare
    assert card.when("end a") == 50


async def test_a_keep_alive_that_runs_out_later_is_not_made_shorter_by_it() -> None:
    async with open_card(keep_alive=10) as card:
        await card.visit("a1")
        with card.manager.visit("a"):
            await card.until(5)
        await card.until(100)
    assert card.when("end a") == 1 + 10


async def test_it_puts_off_the_end_of_a_process_that_has_failed_to_load() -> None:
    async with open_card(keep_alive=10) as card:
        with card.manager.visit("a"):
            async with card.manager.lease("a", "one"):
                card.models.stranded.add("a")
            await card.until(50)
            assert card.events == []
        await card.until(100)
    assert card.when("end a") == 50


async def test_a_changed_keep_alive_moves_the_end_of_a_process_that_has_failed_to_load() -> None:
    async with open_card(keep_alive=300) as card:
        async with card.manager.lease("a", "one"):
            card.models.stranded.add("a")
        await card.until(50)
        card.change(keep_alive_seconds=60)
        await card.until(100)
    assert card.when("end a") == 60
