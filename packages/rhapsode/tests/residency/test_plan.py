"""The decision who gets a place, and whose model goes for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rhapsode.residency.plan import (
    Evict,
    Grant,
    Place,
    Refuse,
    Step,
    Wait,
    Want,
    plan,
)

A, A2, B, C, D = (
    Want("a", "one"),
    Want("a", "two"),
    Want("b", "one"),
    Want("c", "one"),
    Want("d", "one"),
)


def idle(want: Want, used: float = 0) -> Place:
    return Place(want.engine, want.variant, 0, used=used)


def busy(want: Want, taken: float = 0) -> Place:
    return Place(want.engine, want.variant, 1, taken=taken)


def ending(want: Want) -> Place:
    return Place(want.engine, want.variant, 0, is_ending=True)


def empty(want: Want) -> Place:
    return Place(want.engine, "", 0, is_ending=True, is_empty=True)


def deaf(want: Want) -> Place:
    return Place(want.engine, want.variant, 0, is_deaf=True)


def test_nobody_in_line_needs_nothing() -> None:
    assert plan([busy(A), idle(B)], [], 1) == Wait()


def test_a_free_place_is_given_at_once() -> None:
    assert plan([], [A], 1) == Grant(0)
    assert plan([busy(A)], [B], 2) == Grant(0)


def test_the_model_that_is_there_is_shared() -> None:
    assert plan([Place("a", "one", 7)], [A], 1) == Grant(0)


def test_a_busy_engine_is_waited_for_not_evicted() -> None:
    assert plan([busy(A)], [B], 1) == Wait("a")


def test_an_idle_engine_gives_way() -> None:
    assert plan([idle(A)], [B], 1) == Evict("a")


@pytest.mark.contract("3.policy.least-recent")
def test_the_idle_model_used_longest_ago_gives_way() -> None:
    assert plan([idle(A, used=3), idle(B, used=1), idle(C, used=2)], [D], 3) == Evict("b")


def test_an_idle_model_gives_way_though_one_that_speaks_was_used_longer_ago() -> None:
    assert plan([busy(A, taken=1), idle(B, used=9)], [D], 2) == Evict("b")


def test_where_all_speak_the_one_whose_last_lease_is_oldest_is_waited_for() -> None:
    assert plan([busy(A, taken=3), busy(B, taken=1), busy(C, taken=2)], [D], 3) == Wait("b")


def test_another_variant_needs_the_end_of_speaking_and_no_eviction() -> None:
    assert plan([busy(A)], [A2], 1) == Wait("a")
    assert plan([idle(A)], [A2], 1) == Grant(0)


def test_who_comes_after_another_variant_waits_behind_it() -> None:
    assert plan([busy(A)], [A2, A], 1) == Wait("a")


def test_a_model_that_nobody_singled_out_is_shared_past_those_who_wait() -> None:
    places = [busy(A, taken=1), busy(B, taken=2)]
    assert plan(places, [C, B], 2) == Grant(1)
    assert plan(places, [C, A], 2) == Wait("a")


def test_each_who_waits_singles_out_one_more() -> None:
    places = [busy(A, taken=1), busy(B, taken=2)]
    assert plan(places, [C, D, B], 2) == Wait("a")
    assert plan(places, [C, C, B], 2) == Grant(2)  # two for one model need one place


def test_a_model_on_its_way_out_makes_room_for_one_only() -> None:
    assert plan([ending(A), idle(B)], [C], 2) == Wait("a", frozenset({0}))
    assert plan([ending(A), idle(B)], [C, D], 2) == Evict("b")


def test_a_model_on_its_way_out_is_not_given_again() -> None:
    assert plan([ending(A)], [A], 1) == Wait("a", frozenset({0}))


def test_the_end_of_an_empty_process_makes_no_room_and_takes_none() -> None:
    assert plan([empty(A)], [B], 1) == Grant(0)
    assert plan([empty(A), idle(B)], [C], 1) == Evict("b")
    assert plan([empty(A), ending(B)], [C], 1) == Wait("b", frozenset({0}))
    assert plan([empty(A)], [A], 1) == Wait("a", frozenset({0}))


def test_a_request_whose_process_ends_empty_keeps_its_turn() -> None:
    assert plan([empty(A)], [A, B], 1) == Wait("a", frozenset({0}))
    assert plan([empty(A)], [A, B], 2) == Grant(1)


def test_one_that_could_not_be_told_to_go_keeps_its_place_and_is_not_told_again() -> None:
    assert plan([deaf(A)], [B, C], 1) == Refuse(0, "a")
    assert plan([deaf(A), idle(B, used=9)], [C], 2) == Evict("b")
    assert plan([deaf(A), busy(B)], [C, D], 2) == Wait("b")
    assert plan([deaf(A), ending(B)], [C], 2) == Wait("b", frozenset({0}))


def while_a_is_cleared(*args: Any, **more: Any) -> Step | Wait:
    return plan(*args, **more, clearing="a")


def test_who_waits_for_a_card_to_be_cleared_waits_for_nobody_to_speak() -> None:
    assert while_a_is_cleared([empty(A)], [B, B, C, D], 2) == Wait("a", frozenset({0, 1, 2}))
    assert while_a_is_cleared([empty(A), busy(B)], [C, D], 2) == Wait("a", frozenset({0}))
    assert while_a_is_cleared([empty(A)], [B, A2], 2) == Wait("a", frozenset({0, 1}))
    assert while_a_is_cleared([empty(A), deaf(B)], [C, D], 2) == Wait("a", frozenset({0}))
    assert while_a_is_cleared([empty(A)], [B, C], 2, shut={"c"}) == Wait("a", frozenset({0, 1}))


def test_room_is_made_while_a_card_is_cleared() -> None:
    assert while_a_is_cleared([empty(A), idle(B)], [C], 1) == Evict("b")


def test_a_model_that_is_there_does_not_wait_for_a_card_to_be_cleared() -> None:
    assert while_a_is_cleared([empty(A), idle(B)], [C, B], 3) == Grant(1)
    assert while_a_is_cleared([empty(A), busy(B)], [C, B], 2) == Grant(1)


def test_the_model_of_one_that_could_not_be_told_to_go_is_there_for_who_wants_it() -> None:
    assert plan([deaf(A)], [A], 1) == Grant(0)
    assert plan([deaf(A)], [A2], 1) == Grant(0)


def test_a_lowered_limit_evicts_nothing_by_itself() -> None:
    assert plan([idle(A), idle(B), idle(C)], [], 1) == Wait()
    assert plan([idle(A), idle(B), idle(C)], [B], 1) == Grant(0)


def test_under_a_lowered_limit_a_new_model_makes_as_many_go_as_are_too_many() -> None:
    assert plan([idle(A, used=1), idle(B, used=2)], [C], 1) == Evict("a")
    assert plan([ending(A), idle(B, used=2)], [C], 1) == Evict("b")
    assert plan([ending(A), ending(B)], [C], 1) == Wait("a", frozenset({0}))
    assert plan([ending(B)], [C], 1) == Wait("b", frozenset({0}))


def test_who_waits_for_speaking_is_not_assured_though_something_ends_for_them() -> None:
    assert plan([ending(A), busy(B)], [C], 1) == Wait("b")
    assert plan([ending(A)], [B, C], 1) == Wait("a", frozenset({0}))


def test_who_wants_the_same_as_one_assured_is_assured_unless_another_stands_between() -> None:
    assert plan([ending(A)], [B, B], 1) == Wait("a", frozenset({0, 1}))
    assert plan([ending(A)], [B, C, B], 1) == Wait("a", frozenset({0}))
    assert plan([ending(A)], [A, A2, A], 1) == Wait("a", frozenset({0}))


# Over all small values.

STATES = (None, idle, busy, ending, empty)
LINES = [line for length in range(4) for line in product((A, A2, B, C, D), repeat=length)]


def cards() -> Iterator[list[Place]]:
    for states in product(STATES, repeat=3):
        pairs = zip(states, (A, B, C), strict=True)
        yield [state(want) for state, want in pairs if state is not None]


def cases() -> Iterator[tuple[list[Place], tuple[Want, ...], int]]:
    return ((places, line, most) for places in cards() for line in LINES for most in (1, 2, 3))


def models(places: Sequence[Place]) -> list[Place]:
    return [place for place in places if not place.is_empty]


def test_over_all_values_only_what_is_idle_goes_and_only_for_who_has_no_place() -> None:
    for places, line, most in cases():
        step = plan(places, line, most)
        if isinstance(step, Evict):
            (gone,) = (place for place in places if place.engine == step.engine)
            assert not (gone.leases or gone.is_ending or gone.is_empty)
            usable = {place.engine for place in places if not place.is_ending}
            coming = sum(place.is_ending for place in models(places))
            missing = {want.engine for want in line} - usable
            assert most - len(models(places)) + coming < len(missing)


def test_over_all_values_a_lease_is_given_on_what_is_there_or_where_there_is_room() -> None:
    for places, line, most in cases():
        step = plan(places, line, most)
        if isinstance(step, Grant):
            want = line[step.index]
            # First come, first served, among those who want one engine.
            assert want.engine not in {one.engine for one in line[: step.index]}
            found = [place for place in places if place.engine == want.engine]
            if found:
                assert not found[0].is_ending
                assert found[0].variant == want.variant or not found[0].leases
            else:
                assert len(models(places)) < most


def test_over_all_values_who_waits_waits_for_an_engine_that_speaks_or_goes() -> None:
    for places, line, most in cases():
        step = plan(places, line, most)
        if isinstance(step, Wait):
            waited_for = [place for place in places if place.engine == step.blocked_by]
            assert bool(waited_for) is bool(line)
            assert all(place.leases or place.is_ending for place in waited_for)


def test_over_all_values_the_assured_are_those_whom_the_end_of_what_goes_is_enough_for() -> None:
    for places, line, most in cases():
        step = plan(places, line, most)
        if isinstance(step, Wait):
            left = [place for place in places if not place.is_ending]
            unsaid = served(left, line, most) - step.assured
            assert step.assured <= served(left, line, most)
            # Only of who wants the same as one assured, with another in between, nothing is said.
            assert {line[index] for index in unsaid} <= {line[index] for index in step.assured}


def served(places: list[Place], line: Sequence[Want], most: int) -> set[int]:
    """Returns who gets a lease while nobody finishes speaking."""
    left = dict(enumerate(line))
    while isinstance(step := plan(places, list(left.values()), most), Grant):
        index = list(left)[step.index]
        places = with_lease(places, left.pop(index))
    assert isinstance(step, Wait)
    return set(range(len(line))) - set(left)


def with_lease(places: Sequence[Place], want: Want, now: float = 0) -> list[Place]:
    leases = 1 + sum(place.leases for place in places if place.engine == want.engine)
    others = [place for place in places if place.engine != want.engine]
    return [*others, Place(want.engine, want.variant, leases, taken=now, used=now)]


# Over time.


@dataclass
class World:
    """Places, a line and leases, moved by events; whatever the plan says is done at once."""

    most: int
    places: list[Place]
    line: list[tuple[int, Want]]
    leases: dict[int, str]
    now: int = 0
    seen: tuple[int, frozenset[int]] | None = None
    """Who is first in line, and which leases there were when they got there."""

    def settle(self) -> None:
        while True:
            match plan(self.places, [want for _, want in self.line], self.most):
                case Grant(index):
                    number, want = self.line.pop(index)
                    self.places = with_lease(self.places, want, self.now)
                    self.leases[number] = want.engine
                case Evict(engine):
                    self.change(engine, is_ending=True)
                case Wait():
                    break
                case Refuse():
                    raise AssertionError("everybody hears when they are told to go")
        first = self.line[0][0] if self.line else None
        if first is None:
            self.seen = None
        elif self.seen is None or self.seen[0] != first:
            self.seen = (first, frozenset(self.leases))

    def change(self, engine: str, *, is_ending: bool = False, leases: int = 0) -> None:
        (old,) = (place for place in self.places if place.engine == engine)
        new = replace(old, is_ending=is_ending, leases=leases, used=self.now)
        self.places = [new if place is old else place for place in self.places]

    def release(self, number: int) -> None:
        engine = self.leases.pop(number)
        self.change(engine, leases=sum(one == engine for one in self.leases.values()))

    def complete_ends(self) -> None:
        self.places = [place for place in self.places if not place.is_ending]


@settings(deadline=None, max_examples=200)
@given(
    most=st.integers(1, 3),
    events=st.lists(
        st.one_of(
            st.sampled_from((A, A2, B, C, D)),  # somebody comes
            st.integers(0, 20),  # a lease ends
            st.just("gone"),  # what is on its way out has gone
        ),
        max_size=60,
    ),
)
def test_whatever_comes_later_the_first_in_line_waits_for_the_leases_it_found_and_no_others(
    most: int, events: list[Want | int | str]
) -> None:
    world = World(most, [], [], {})
    for world.now, event in enumerate(events):
        if isinstance(event, Want):
            world.line.append((world.now, event))
        elif isinstance(event, int) and world.leases:
            world.release(sorted(world.leases)[event % len(world.leases)])
        elif event == "gone":
            world.complete_ends()
        world.settle()
        assert len(world.places) <= most
        if world.seen is not None:
            is_waiting_for_speech = bool(world.seen[1] & world.leases.keys())
            assert is_waiting_for_speech or any(place.is_ending for place in world.places)
