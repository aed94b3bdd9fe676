"""The life of one job, as a table, and what is known of it (contract § 10, "Jobs")."""

from datetime import datetime
from enum import Enum
from typing import Final, Literal

from rhapsode_contract import ErrorDetail, InstallJob, JobStep

from rhapsode.workers.lifecycle import advance

Kind = Literal["install", "pull", "reinstall"]


class State(Enum):
    """Where a job is; the values are the wire's."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Event(Enum):
    """What can happen to it."""

    START = "start"
    SUCCEED = "succeed"
    FAIL = "fail"  # also one that the server's end keeps from its turn


TRANSITIONS: Final[dict[tuple[State, Event], State]] = {
    (State.QUEUED, Event.START): State.RUNNING,
    (State.QUEUED, Event.FAIL): State.FAILED,
    (State.RUNNING, Event.SUCCEED): State.SUCCEEDED,
    (State.RUNNING, Event.FAIL): State.FAILED,
}

_BUILDING: Final[tuple[JobStep, ...]] = ("venv", "packages", "verify", "register")
_FETCHING: Final[tuple[JobStep, ...]] = ("weights",)


class Job:
    """One job. `Jobs` owns it and alone changes it; others read."""

    def __init__(
        self, job_id: str, engine: str, kind: Kind, variant: str | None, created_at: datetime
    ) -> None:
        """Queues it.

        Args:
            job_id: Of this job alone.
            engine: What it works on.
            kind: What it does.
            variant: Whose weights it fetches; None for none.
            created_at: Now.
        """
        self.id = job_id
        self.engine = engine
        self.kind: Kind = kind
        self.variant = variant
        self._created_at = created_at
        self._started_at: datetime | None = None
        self._finished_at: datetime | None = None
        self._error: ErrorDetail | None = None
        self._state = State.QUEUED
        self._step: JobStep | None = None

    @property
    def steps(self) -> tuple[JobStep, ...]:
        """The steps it goes through, in order."""
        if self.kind == "pull":
            return _FETCHING
        return _BUILDING if self.variant is None else _BUILDING + _FETCHING

    @property
    def step(self) -> JobStep:
        """The step it is on, was on when it ended, or begins with."""
        return self._step or self.steps[0]

    @property
    def is_over(self) -> bool:
        """Whether it has succeeded or failed."""
        return self._state in {State.SUCCEEDED, State.FAILED}

    def start(self, at: datetime) -> None:
        """It is its turn."""
        self._state = advance(TRANSITIONS, self._state, Event.START)
        self._started_at = at

    def enter(self, step: JobStep) -> None:
        """It goes on to a step."""
        self._step = step

    def succeed(self, at: datetime) -> None:
        """It has done all of its steps."""
        self._state = advance(TRANSITIONS, self._state, Event.SUCCEED)
        self._finished_at = at

    def fail(self, error: ErrorDetail, at: datetime) -> None:
        """It ends before its last step."""
        self._state = advance(TRANSITIONS, self._state, Event.FAIL)
        self._error = error
        self._finished_at = at

    def shape(self) -> InstallJob:
        """Returns the job as clients see it."""
        return InstallJob(
            id=self.id,
            engine=self.engine,
            kind=self.kind,
            variant=self.variant,
            state=self._state.value,
            step=self._step,
            created_at=self._created_at,
            started_at=self._started_at,
            finished_at=self._finished_at,
            error=self._error,
        )
