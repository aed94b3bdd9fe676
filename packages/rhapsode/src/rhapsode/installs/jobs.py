"""The queue of jobs: one runs at a time, and those that are over are kept for a while."""

import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

import anyio
from rhapsode_contract import Conflict, ErrorDetail, Overloaded, RouteUnknown
from rhapsode_contract.quoting import shown

from rhapsode.installs.failure import failure_detail
from rhapsode.installs.feed import Feed
from rhapsode.installs.job import Job, Kind
from rhapsode.installs.job_ids import JobIds
from rhapsode.installs.job_report import JobReport

logger = logging.getLogger(__name__)

KEPT_JOBS: Final = 50
"""Of those that are over."""

Work = Callable[[JobReport], Awaitable[None]]
"""What a job does; what it raises is what the job failed with."""


class Jobs:
    """Every job that this process knows of. `run()` does them; the rest only asks."""

    def __init__(
        self,
        feed: Feed,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Args:
        feed: Told of what jobs say.
        now: The time of day.
        clock: Seconds that only go forward.
        """
        self._feed = feed
        self._now = now
        self._clock = clock
        self._ids = JobIds(now)
        self._jobs: dict[str, Job] = {}
        """By id, in the order in which they were made."""
        self._works: dict[str, Work] = {}
        """Of those whose turn has not come, in order."""
        self._over: deque[str] = deque()
        """In the order in which they ended."""
        self._reserved: set[str] = set()
        self._is_closed = False
        self._changed = anyio.Event()

    def submit(self, engine: str, kind: Kind, work: Work, variant: str | None = None) -> Job:
        """Queues a job.

        Args:
            engine: What it works on.
            kind: What it does.
            work: Called when it is its turn.
            variant: Whose weights it fetches; None for none.

        Raises:
            Conflict: The engine has a job that is not over, or is being removed.
            Overloaded: The server is stopping.
        """
        self.check_idle(engine)
        if self._is_closed:
            raise _stopping()
        job = Job(self._ids.next(), engine, kind, variant, self._now())
        self._jobs[job.id] = job
        self._works[job.id] = work
        self._feed.open(job.id)
        self._changed.set()
        logger.info("%s: queued as job %s", kind, job.id, extra={"engine": engine})
        return job

    def job(self, job_id: str) -> Job:
        """Returns a job.

        Raises:
            RouteUnknown: It is not known, or not any more.
        """
        job = self._jobs.get(job_id)
        if job is None:
            raise RouteUnknown(
                f"job: there is no {shown(job_id)}; a job that is over is kept until"
                f" {KEPT_JOBS} others have ended after it",
                field="job",
            )
        return job

    def newest_first(self) -> list[Job]:
        """Returns every job."""
        return [*reversed(self._jobs.values())]

    def active(self, engine: str) -> Job | None:
        """Returns the job of an engine that is queued or running, or None."""
        mine = (job for job in self._jobs.values() if job.engine == engine and not job.is_over)
        return next(mine, None)

    def is_idle(self, engine: str) -> bool:
        """Whether an engine has no job and is not being removed."""
        return engine not in self._reserved and self.active(engine) is None

    def check_idle(self, engine: str) -> None:
        """Refuses where `is_idle` is false.

        Raises:
            Conflict: It says what is going on.
        """
        if engine in self._reserved:
            raise Conflict(f"engine: {engine!r} is being removed", field="engine")
        job = self.active(engine)
        if job is not None:
            state = job.shape().state
            raise Conflict(
                f"engine: {engine!r} has a job already, {job.kind} {job.id}, which is {state}",
                field="engine",
            )

    @contextmanager
    def reserved(self, engine: str) -> Generator[None]:
        """Keeps an engine free of jobs for the length of the block.

        Raises:
            Conflict: It has one, or is reserved already.
        """
        self.check_idle(engine)
        self._reserved.add(engine)
        try:
            yield
        finally:
            self._reserved.remove(engine)

    async def run(self) -> None:
        """Does the jobs, one after the other, until it is cancelled; then none is left that is
        not over.
        """
        try:
            while True:
                while not self._works:
                    self._changed = anyio.Event()
                    await self._changed.wait()
                job_id = next(iter(self._works))
                await self._perform(self._jobs[job_id], self._works.pop(job_id))
        finally:
            self.close()

    def close(self) -> None:
        """Takes no more jobs, and fails those whose turn has not come."""
        self._is_closed = True
        for job_id in [*self._works]:
            del self._works[job_id]
            self._fail(self._jobs[job_id], failure_detail(_stopping()))

    async def _perform(self, job: Job, work: Work) -> None:
        report = JobReport(job, self._feed, self._clock)
        job.start(self._now())
        try:
            await work(report)
        except Exception as error:
            self._fail(job, failure_detail(error), report)
        except anyio.get_cancelled_exc_class():
            self._fail(job, failure_detail(_stopping()), report)
            raise
        else:
            job.succeed(self._now())
            report.succeeded()
            self._note_over(job)

    def _fail(self, job: Job, error: ErrorDetail, report: JobReport | None = None) -> None:
        job.fail(error, self._now())
        (report or JobReport(job, self._feed, self._clock)).failed(error)
        self._note_over(job)

    def _note_over(self, job: Job) -> None:
        shape = job.shape()
        why = f": {shape.error.message}" if shape.error is not None else ""
        logger.info(
            "%s: job %s %s%s", job.kind, job.id, shape.state, why, extra={"engine": job.engine}
        )
        self._over.append(job.id)
        if len(self._over) > KEPT_JOBS:
            old = self._over.popleft()
            del self._jobs[old]
            self._feed.forget(old)


def _stopping() -> Overloaded:
    return Overloaded("the server is stopping, and does no more jobs")
