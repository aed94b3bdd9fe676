"""The tables of states."""

from enum import Enum
from itertools import product
from typing import get_args

import pytest
from rhapsode.workers.lifecycle import (
    MODEL,
    PROCESS,
    IllegalTransition,
    Model,
    ModelEvent,
    Process,
    ProcessEvent,
    advance,
)
from rhapsode_contract import ModelState, ProcessState

TABLES = [(PROCESS, Process, ProcessEvent), (MODEL, Model, ModelEvent)]


@pytest.mark.parametrize(("table", "states", "events"), TABLES)
def test_every_pair_either_advances_or_is_refused(
    table: dict[tuple[Enum, Enum], Enum], states: type[Enum], events: type[Enum]
) -> None:
    for state, event in product(states, events):
        if (state, event) in table:
            assert advance(table, state, event) is table[state, event]
        else:
            with pytest.raises(IllegalTransition, match=event.value):
                advance(table, state, event)


@pytest.mark.parametrize(("table", "start"), [(PROCESS, Process.DOWN), (MODEL, Model.UNLOADED)])
def test_every_state_can_be_reached_and_left_again(
    table: dict[tuple[Enum, Enum], Enum], start: Enum
) -> None:
    assert _reached(table, start) == set(type(start))
    for state in type(start):
        assert start in _reached(table, state)


def test_a_process_that_is_gone_leaves_no_model_in_any_state() -> None:
    assert {MODEL[state, ModelEvent.EXIT] for state in Model} == {Model.UNLOADED}


def test_an_end_can_be_asked_for_in_every_state() -> None:
    assert all((state, ProcessEvent.END) in PROCESS for state in Process)


def test_the_states_are_the_wires_words() -> None:
    assert {state.value for state in Process} == set(get_args(ProcessState))
    assert {state.value for state in Model} == set(get_args(ModelState))


def _reached(table: dict[tuple[Enum, Enum], Enum], start: Enum) -> set[Enum]:
    seen = {start}
    while new := {to for (came, _), to in table.items() if came in seen} - seen:
        seen |= new
    return seen
