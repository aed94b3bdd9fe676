"""The life of a job."""

from datetime import UTC, datetime
from itertools import product
from typing import Any, get_args

import pytest
from rhapsode.installs.job import TRANSITIONS, Event, Job, Kind, State
from rhapsode.workers.lifecycle import IllegalTransition, advance
from rhapsode_contract import ErrorDetail, InstallJob

CREATED, STARTED, ENDED = (datetime(2026, 9, 18, 14, minute, tzinfo=UTC) for minute in range(3))
ERROR = ErrorDetail(code="internal", message="no compiler", retryable=False)


def test_every_pair_either_advances_or_is_refused() -> None:
    for state, event in product(State, Event):
        if (state, event) in TRANSITIONS:
            assert advance(TRANSITIONS, state, event) is TRANSITIONS[state, event]
        else:
            with pytest.raises(IllegalTransition, match=event.value):
                advance(TRANSITIONS, state, event)


def test_every_state_is_reached_and_an_end_is_final() -> None:
    assert {State.QUEUED, *TRANSITIONS.values()} == set(State)
    assert {state for state, _ in TRANSITIONS} == {State.QUEUED, State.RUNNING}


@pytest.mark.contract("10.jobs.shape")
def test_the_states_and_kinds_are_the_wires_words() -> None:
    fields = InstallJob.model_fields
    assert {state.value for state in State} == set(get_args(fields["state"].annotation))
    assert get_args(Kind) == get_args(fields["kind"].annotation)


@pytest.mark.contract("10.jobs.shape")
def test_a_job_tells_what_has_happened_to_it_and_nothing_else() -> None:
    job = Job("01J", "tone", "install", None, CREATED)
    queued: dict[str, Any] = {
        "id": "01J",
        "engine": "tone",
        "kind": "install",
        "state": "queued",
        "createdAt": "2026-09-18T14:00:00.000Z",
    }
    assert job.shape().to_object() == queued
    job.start(STARTED)
    job.enter("venv")
    running = {**queued, "state": "running", "step": "venv"}
    running["startedAt"] = "2026-09-18T14:01:00.000Z"
    assert job.shape().to_object() == running
    assert not job.is_over
    job.succeed(ENDED)
    assert job.shape().to_object() == {
        **running,
        "state": "succeeded",
        "finishedAt": "2026-09-18T14:02:00.000Z",
    }
    assert job.is_over


@pytest.mark.contract("10.jobs.error", "10.jobs.shape")
def test_a_failed_job_carries_its_error_and_the_step_it_failed_in() -> None:
    job = Job("01J", "tone", "pull", "sine", CREATED)
    job.start(STARTED)
    job.enter("weights")
    job.fail(ERROR, ENDED)
    shape = job.shape().to_object()
    assert (shape["state"], shape["step"], shape["variant"]) == ("failed", "weights", "sine")
    assert shape["error"] == {"code": "internal", "message": "no compiler", "retryable": False}


@pytest.mark.parametrize(
    ("kind", "variant", "steps"),
    [
        ("install", None, ("venv", "packages", "verify", "register")),
        ("install", "sine", ("venv", "packages", "verify", "register", "weights")),
        ("reinstall", None, ("venv", "packages", "verify", "register")),
        ("pull", "sine", ("weights",)),
    ],
)
@pytest.mark.contract("10.install.steps", "10.reinstall.steps")
def test_a_job_goes_through_the_steps_of_its_kind(
    kind: Kind, variant: str | None, steps: tuple[str, ...]
) -> None:
    job = Job("01J", "tone", kind, variant, CREATED)
    assert job.steps == steps
    assert job.step == steps[0]
