"""The decision about the one place."""

from itertools import product

from rhapsode.residency.plan import Evict, Grant, Place, Wait, Want, plan

A, A2, B = Want("a", "one"), Want("a", "two"), Want("b", "one")
WANTS = (A, A2, B)


def test_nobody_in_line_needs_nothing() -> None:
    assert plan(Place(A, 3), None) == Wait()


def test_an_empty_place_is_given_at_once() -> None:
    assert plan(Place(None, 0), A) == Grant()


def test_the_model_that_is_there_is_shared() -> None:
    assert plan(Place(A, 7), A) == Grant()


def test_a_busy_engine_is_waited_for_not_evicted() -> None:
    assert plan(Place(A, 1), B) == Wait()


def test_an_idle_engine_gives_way() -> None:
    assert plan(Place(A, 0), B) == Evict("a")


def test_another_variant_of_the_same_engine_needs_no_eviction_but_the_end_of_speaking() -> None:
    assert plan(Place(A, 1), A2) == Wait()
    assert plan(Place(A, 0), A2) == Grant()


def test_nothing_is_given_while_the_old_process_is_going() -> None:
    assert all(plan(Place(A, 0, is_being_emptied=True), want) == Wait() for want in WANTS)


def test_over_all_values_what_speaks_is_never_evicted_nor_joined_by_another_model() -> None:
    for holds, first, leases in product(WANTS, WANTS, range(3)):
        step = plan(Place(holds, leases), first)
        if leases and first != holds:
            assert step == Wait()
        if isinstance(step, Evict):
            assert step.engine == holds.engine != first.engine
