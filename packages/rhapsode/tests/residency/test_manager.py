"""Leases on the card, the line for it, and the end of models, on a clock that jumps."""

import anyio
import pytest
from rhapsode_contract import Conflict, ModelUnavailable

from .card import END_SECONDS, Card, open_card

pytestmark = pytest.mark.anyio


# Room.


@pytest.mark.contract("3.policy.max-resident")
async def test_the_old_process_is_gone_before_the_next_model_is_loaded() -> None:
    async with open_card() as card:
        await card.visit("a")
        await card.visit("b")
    assert card.events[1:] == ["a stops", "end a", "a gone", "b speaks", "b stops"]
    assert card.evicted == [("a", "room")]


async def test_nothing_that_speaks_is_evicted_and_who_comes_later_waits_behind() -> None:
    async with open_card() as card:
        for name in ("a1", "b1", "a2", "b2"):
            card.send(name)
        await card.until(0.5)
        assert card.events == ["a1 speaks"]
        brief = card.manager.summary()
        assert (brief.resident, brief.waiting, brief.blocked_by) == (1, 3, "a")
    spoken = [event for event in card.events if event.endswith("speaks")]
    assert spoken == ["a1 speaks", "b1 speaks", "a2 speaks", "b2 speaks"]


async def test_requests_for_the_model_that_is_there_share_it() -> None:
    async with open_card() as card:
        card.send("a1")
        card.send("a2")
        await card.until(0.5)
        assert card.events == ["a1 speaks", "a2 speaks"]
        assert card.manager.report().models[0].leases == 2


async def test_another_variant_waits_for_speaking_to_end_and_evicts_nobody() -> None:
    async with open_card() as card:
        card.send("a1", variant="one")
        card.send("a2", variant="two")
        await card.until(0.5)
        assert (card.manager.summary().waiting, card.manager.summary().blocked_by) == (1, "a")
    assert card.events == ["a1 speaks", "a1 stops", "a2 speaks", "a2 stops"]
    assert card.manager.report().models[0].variant == "two"


async def test_loads_of_several_engines_at_once_are_one_after_the_other() -> None:
    async with open_card() as card:
        for name in ("a", "b", "c", "d"):
            card.send(name)
    speaks = [(at, event) for at, event in card.diary if event.endswith("speaks")]
    assert speaks == [(0, "a speaks"), (2, "b speaks"), (4, "c speaks"), (6, "d speaks")]


@pytest.mark.contract("3.policy.max-resident")
async def test_with_several_places_as_many_models_are_there_and_no_more() -> None:
    async with open_card(most=2) as card:
        for name in ("a", "b", "c"):
            card.send(name)
        await card.until(0.5)
        assert card.events == ["a speaks", "b speaks"]
        assert (card.manager.summary().resident, card.manager.summary().max) == (2, 2)
    assert card.when("c speaks") == 1 + END_SECONDS
    assert card.evicted == [("a", "room")]


@pytest.mark.contract("3.policy.least-recent")
async def test_of_several_idle_models_the_one_used_longest_ago_gives_way() -> None:
    async with open_card(most=3) as card:
        for name in ("a1", "b1", "c1", "a2"):
            await card.visit(name)
        await card.visit("d1")
        await card.visit("e1")
    assert card.evicted == [("b", "room"), ("c", "room")]


async def test_the_last_use_of_a_model_is_the_end_of_speaking_and_not_its_beginning() -> None:
    async with open_card(most=2) as card:
        card.send("a1", 10)
        await card.visit("b1")
        await card.until(11)
        await card.visit("c1")
    assert card.evicted == [("b", "room")]


async def test_with_two_places_one_that_speaks_is_shared_past_those_who_wait() -> None:
    async with open_card(most=2) as card:
        card.send("a1", 5)
        await card.until(0.1)
        card.send("b1", 20)
        await card.until(0.2)
        card.send("c1")
        await card.until(0.3)
        card.send("b2")  # b is not singled out: a's last lease is older
        card.send("a2")
        await card.until(0.4)
        assert card.events == ["a1 speaks", "b1 speaks", "b2 speaks"]
    assert card.when("c1 speaks") == 5 + END_SECONDS


@pytest.mark.contract("3.keep-alive.no-reservation")
async def test_a_keep_alive_without_end_is_no_reservation() -> None:
    async with open_card() as card:
        await card.visit("a", keep_alive=-1)
        await card.visit("b", keep_alive=-1)
    assert card.evicted == [("a", "room")]


# The wait.


async def test_a_wait_that_is_too_long_is_model_unavailable_and_names_both_engines() -> None:
    async with open_card(wait=3) as card:
        card.send("a", 10)
        await card.until(1)
        with pytest.raises(ModelUnavailable, match=r"'b' waited for 'a'.* 3 s .*evictionWait"):
            await card.visit("b")
        card.note("refused")
        assert card.manager.summary().waiting == 0
    assert card.when("refused") == 4
    assert card.evicted == []


async def test_with_no_patience_at_all_an_idle_engine_still_gives_way() -> None:
    async with open_card(wait=0) as card:
        await card.visit("a")
        await card.visit("b")  # and the wait for the end of the old process is not cut short
    assert card.events[-1] == "b stops"


@pytest.mark.parametrize("name", ["a2", "b"])
async def test_with_no_patience_at_all_a_model_on_its_way_out_is_waited_for(name: str) -> None:
    async with open_card(wait=0, keep_alive=0) as card:
        await card.visit("a1")
        await card.until(1.5)
        assert card.events[-1] == "end a"
        await card.visit(name)
    assert card.when(f"{name} speaks") == 1 + END_SECONDS


async def test_who_waits_behind_one_who_will_speak_has_a_deadline_though_one_goes_now() -> None:
    async with open_card(wait=3) as card:
        await card.visit("a")
        card.send("b", 10)
        await card.until(1.5)
        with pytest.raises(ModelUnavailable):
            await card.visit("c")
        card.note("refused")
    assert card.when("refused") == 1.5 + 3


async def test_under_a_lowered_limit_the_deadline_runs_while_another_speaks() -> None:
    async with open_card(most=2, wait=3) as card:
        await card.visit("a")
        card.send("b", 100)
        await card.until(1.1)
        card.change(max_resident_models=1)
        with pytest.raises(ModelUnavailable, match="'b'"):
            await card.visit("c")
        card.note("refused")
    assert card.when("refused") == pytest.approx(4.1)


async def test_a_client_that_leaves_the_line_takes_nothing_and_lets_the_others_pass() -> None:
    async with open_card() as card:
        card.send("a1")
        left = card.send("b1")
        card.send("a2")
        await card.until(0.5)
        assert card.events == ["a1 speaks"]
        left.cancel()
        await card.until(0.6)
        assert card.events == ["a1 speaks", "a2 speaks"]
        assert card.manager.summary().waiting == 0
    assert card.evicted == []


async def test_an_eviction_whose_cause_has_left_still_ends_and_the_place_is_free() -> None:
    async with open_card() as card:
        await card.visit("a")
        left = card.send("b")
        await card.until(1.5)
        left.cancel()
        await card.until(1.6)
        assert card.manager.summary().waiting == 0
        await card.visit("c")
    assert card.events[2:] == ["end a", "a gone", "c speaks", "c stops"]


async def test_a_client_that_leaves_while_it_speaks_gives_its_lease_back() -> None:
    async with open_card() as card:
        left = card.send("a", 1000)
        await card.until(1)
        left.cancel()
        await card.visit("b")
    assert card.when("b speaks") == 1 + END_SECONDS


async def test_one_that_leaves_in_the_moment_of_its_grant_strands_nothing() -> None:
    async with open_card() as card:
        card.send("a1", 1)
        left = card.send("b1", 1000)
        await card.until(1 + END_SECONDS)  # the place is given now; nobody has run since
        left.cancel()
        await card.visit("c1")
    assert card.manager.report().models[0].leases == 0


# Settings.


@pytest.mark.contract("3.policy.live-settings")
async def test_a_raised_limit_lets_those_who_wait_in_at_once() -> None:
    async with open_card() as card:
        card.send("a", 50)
        card.send("b")
        card.send("c")
        await card.until(5)
        card.change(max_resident_models=3)
    assert (card.when("b speaks"), card.when("c speaks")) == (5, 5)
    assert card.evicted == []


@pytest.mark.contract("3.policy.live-settings")
async def test_a_lowered_limit_evicts_nothing_by_itself_and_counts_for_the_next_model() -> None:
    async with open_card(most=3) as card:
        for name in ("a", "b", "c"):
            await card.visit(name)
        card.change(max_resident_models=1)
        await card.until(100)
        await card.visit("b")
        assert card.evicted == []
        await card.visit("d")
    assert card.evicted == [("a", "room"), ("c", "room"), ("b", "room")]
    assert card.events.index("b gone") < card.events.index("d speaks")


async def test_a_changed_patience_counts_for_who_comes_later() -> None:
    async with open_card(wait=5) as card:
        card.send("a", 100)
        await card.until(1)
        card.change(eviction_wait_seconds=50)
        with pytest.raises(ModelUnavailable):
            await card.visit("b")
        card.note("refused")
    assert card.when("refused") == 51


# An operator's freeing.


@pytest.mark.contract("3.unload-route.modes")
async def test_freeing_ends_the_process_and_returns_once_it_is_gone() -> None:
    async with open_card() as card:
        await card.visit("a")
        await card.manager.free("a", "terminate")
        assert card.is_bare
    assert card.diary[-2:] == [(1, "end a"), (2, "a gone")]
    assert card.evicted == [("a", "operator")]


@pytest.mark.contract("3.unload-route.modes")
async def test_freeing_may_keep_the_process() -> None:
    async with open_card() as card:
        await card.visit("a")
        await card.manager.free("a", "unload")
        assert card.is_bare
    assert card.diary[-2:] == [(1, "unload a"), (2, "a gone")]


@pytest.mark.contract("3.unload-route.answer", "3.unload-route.modes")
async def test_freeing_again_ends_a_process_without_a_model_and_unloads_nothing() -> None:
    async with open_card() as card:
        await card.manager.free("a", "unload")
        assert card.events == []
        card.models.note("before")
        await card.manager.free("a", "terminate")
        assert card.is_bare
    assert card.events == ["before", "end a", "a gone"]
    assert card.evicted == []  # there was no model


async def test_the_end_of_a_process_without_a_model_is_no_model_and_takes_no_place() -> None:
    async with open_card() as card, anyio.create_task_group() as tasks:
        tasks.start_soon(card.manager.free, "a", "terminate")
        await card.until(0.5)
        assert card.is_bare
        card.send("b", 5)
        await card.until(0.6)
        assert card.events == ["end a", "b speaks"]


@pytest.mark.contract("3.unload-route.busy")
@pytest.mark.parametrize("mode", ["terminate", "unload"])
async def test_freeing_one_that_speaks_is_a_conflict_and_cuts_nothing(mode: str) -> None:
    async with open_card() as card:
        card.send("a", 5)
        await card.until(1)
        with pytest.raises(Conflict, match="'a'"):
            await card.manager.free("a", "unload" if mode == "unload" else "terminate")
    assert card.events == ["a speaks", "a stops"]


async def test_freeing_during_an_eviction_waits_for_its_end() -> None:
    async with open_card(keep_alive=0) as card:
        await card.visit("a")
        await card.until(1.5)
        await card.manager.free("a", "unload")
        card.note("freed")
    assert card.when("freed") == 1 + END_SECONDS
    assert card.evicted == [("a", "keep-alive")]


async def test_two_who_free_the_same_engine_both_see_it_gone() -> None:
    async with open_card() as card:
        await card.visit("a")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(card.manager.free, "a", "unload")
            tasks.start_soon(card.manager.free, "a", "unload")
        assert card.is_bare
    assert card.evicted == [("a", "operator")]


async def test_freeing_what_goes_already_is_no_conflict_with_who_speaks_next() -> None:
    async with open_card() as card:
        await card.visit("a1")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(card.manager.free, "a", "terminate")
            tasks.start_soon(card.manager.free, "a", "terminate")
            tasks.start_soon(card.manager.free, "a", "unload")
            await card.until(1.5)
            card.send("a2", 5)
        card.note("freed")
    assert card.events[2:] == ["end a", "a gone", "a2 speaks", "freed", "a2 stops"]


async def test_ending_a_process_whose_model_is_being_unloaded_ends_it_afterwards() -> None:
    async with open_card() as card:
        await card.visit("a")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(card.manager.free, "a", "unload")
            tasks.start_soon(card.manager.free, "a", "terminate")
        assert card.is_bare
    assert card.events[2:] == ["unload a", "a gone", "end a", "a gone"]


async def test_freeing_goes_on_though_the_operator_has_left() -> None:
    async with open_card() as card:
        await card.visit("a")
        with anyio.move_on_after(0.5):
            await card.manager.free("a", "terminate")
        assert not card.is_bare
        await card.until(5)
        assert card.is_bare


async def test_a_request_that_comes_while_its_engine_is_freed_gets_the_next_process() -> None:
    async with open_card(wait=0) as card:
        await card.visit("a1")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(card.manager.free, "a", "terminate")
            await card.until(1.5)
            await card.visit("a2")
    assert card.events[2:] == ["end a", "a gone", "a2 speaks", "a2 stops"]


# Crashes and failed loads.


async def test_a_process_that_dies_idle_leaves_its_place_to_who_comes() -> None:
    async with open_card() as card:
        await card.visit("a")
        card.models.crash("a")
        assert card.is_bare
        await card.visit("b")
    assert card.evicted == []


async def test_a_process_that_dies_under_a_lease_keeps_its_place_until_that_ends() -> None:
    async with open_card() as card:
        card.send("a1", 5)
        card.send("b1")
        await card.until(1)
        card.models.crash("a")
        assert card.only.leases == 1
        await card.until(1.5)
        assert card.events == ["a1 speaks"]
    assert card.events == ["a1 speaks", "a1 stops", "b1 speaks", "b1 stops"]
    assert card.evicted == []


async def test_one_that_dies_under_a_lease_and_is_loaded_again_for_another_stays() -> None:
    async with open_card() as card:
        card.send("a1", 5)
        await card.until(1)
        card.models.crash("a")
        await card.visit("a2")
    assert (card.only.leases, card.evicted) == (0, [])


async def test_a_process_that_dies_while_it_is_ended_is_gone_once_and_not_twice() -> None:
    async with open_card() as card:
        await card.visit("a")
        card.send("b")
        await card.until(1.5)
        card.models.crash("a")
        await card.until(1.6)
        assert card.manager.summary().waiting == 1
    assert card.when("b speaks") == 1 + END_SECONDS


async def test_a_crash_of_an_engine_that_has_no_place_changes_nothing() -> None:
    async with open_card() as card:
        card.models.crash("a")
        assert card.is_bare


async def test_a_load_that_fails_leaves_no_place() -> None:
    async with open_card() as card:
        with pytest.raises(ZeroDivisionError):
            async with card.manager.lease("a", "one"):
                raise ZeroDivisionError
        assert card.is_bare
        await card.visit("b")
    assert card.evicted == []


async def test_who_frees_an_engine_as_the_server_goes_down_does_not_stay_behind() -> None:
    returned = anyio.Event()

    async def free(card: Card) -> None:
        await card.manager.free("a", "terminate")
        returned.set()

    with anyio.move_on_after(10):
        async with anyio.create_task_group() as operators, open_card() as card:
            await card.visit("a")
            card.models.end_seconds = 1000
            operators.start_soon(free, card)
            await anyio.wait_all_tasks_blocked()
            card.go_down()
    assert returned.is_set()


async def test_who_waits_gets_a_model_that_is_found() -> None:
    async with open_card() as card:
        card.send("a1", seconds=50)
        card.send("b1")
        await card.until(5)
        card.models.loaded["b"] = "one"
        card.manager.note_found("b", "one")
        await card.until(5.5)
        assert card.events == ["a1 speaks", "b1 speaks"]
        card.manager.note_found("a", "two")  # it speaks, and knows better


async def test_a_found_model_of_another_variant_takes_the_place_of_the_idle_one() -> None:
    async with open_card() as card:
        await card.visit("a")
        card.manager.note_found("a", "two")
        (model,) = card.manager.report().models
        assert model.variant == "two"


async def test_who_waits_for_another_variant_is_told_so() -> None:
    async with open_card(wait=2) as card:
        card.send("a1", seconds=50)
        await card.until(1)
        with pytest.raises(ModelUnavailable, match="'a' waited for another variant of its own"):
            await card.visit("a2", variant="two")


# What is shown.


@pytest.mark.contract("3.residency.listing")
async def test_the_report_has_the_model_used_longest_ago_first_with_what_it_takes() -> None:
    async with open_card(most=3, keep_alive=300, keep_alives={"b": -1}) as card:
        card.models.sizes["a"] = 3355443200
        for name in ("a1", "b1", "c1", "a2"):
            await card.visit(name)
        shown = card.manager.report()
    assert [model.engine for model in shown.models] == ["b", "c", "a"]
    assert [model.size_bytes for model in shown.models] == [None, None, 3355443200]
    assert [model.keep_alive_seconds for model in shown.models] == [-1, 300, 300]
    assert (shown.resident, shown.max, shown.waiting, shown.blocked_by) == (3, 3, 0, None)
    first, *_, last = shown.models
    assert first.expires_at is None
    assert last.expires_at is not None
    assert (last.expires_at - last.last_used_at).total_seconds() == 300


@pytest.mark.contract("3.residency.absent-fields")
async def test_the_deadline_is_absent_while_a_model_speaks_and_while_it_goes() -> None:
    async with open_card(keep_alive=300) as card:
        card.send("a")
        await card.until(0.5)
        assert (card.only.leases, card.only.expires_at) == (1, None)
        await card.until(1.5)
        assert card.only.expires_at is not None
        card.send("b")
        await card.until(1.6)
        assert (card.only.engine, card.only.expires_at) == ("a", None)
        assert card.manager.report().blocked_by == "a"


async def test_fields_that_are_not_known_are_absent_from_the_json() -> None:
    async with open_card(keep_alive=-1) as card:
        await card.visit("a")
        shown = card.manager.report()
    assert b"expiresAt" not in shown.to_json()
    assert b"sizeBytes" not in shown.to_json()
    assert b"blockedBy" not in shown.to_json()


@pytest.mark.contract("10.settings.deadlines")
@pytest.mark.parametrize(("before", "after", "refused_at"), [(3, 100, None), (100, 5, 5)])
async def test_a_change_of_the_wait_reaches_who_waits_already(
    before: float, after: float, refused_at: float | None
) -> None:
    async with open_card(wait=before) as card, anyio.create_task_group() as tasks:
        card.send("a", seconds=50)
        await card.until(0.5)

        async def ask() -> None:
            try:
                await card.visit("b")
            except ModelUnavailable as error:
                assert f"longer than the {after:g} s" in error.message
                card.note("b refused")

        tasks.start_soon(ask)
        await card.until(1)
        card.change(eviction_wait_seconds=after)
    if refused_at is None:
        assert card.when("b speaks") >= 50
    else:
        assert card.when("b refused") == refused_at + 0.5
