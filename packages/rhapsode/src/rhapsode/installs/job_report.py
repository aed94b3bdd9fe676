"""What a running job says of itself, on its record and in the feed."""

from collections.abc import Callable

from rhapsode_contract import ErrorDetail, JobStep, Progress

from rhapsode.installs.bytes_pace import BytesPace
from rhapsode.installs.feed import Feed, Level
from rhapsode.installs.job import Job


class JobReport:
    """A `Report` that a job's feed is told of. Called on the loop's thread."""

    def __init__(self, job: Job, feed: Feed, clock: Callable[[], float]) -> None:
        """Args:
        job: Runs.
        feed: Knows the job.
        clock: Seconds that only go forward.
        """
        self._job = job
        self._feed = feed
        self._clock = clock
        self._pace = BytesPace()
        self._entered: JobStep | None = None

    def step(self, step: JobStep) -> None:
        """The job goes on to a step; nothing where it is on it already."""
        if step == self._entered:
            return
        self._entered = step
        self._finish_bytes()
        self._job.enter(step)
        self._feed.publish(self._job.id, "progress", progress=self._progress("running"))

    def line(self, text: str, level: Level = "info") -> None:
        """A line that whatever the job runs has printed."""
        self._feed.publish(self._job.id, "log", level=level, message=text)

    def bytes(self, received: int, total: int | None) -> None:
        """A download has come this far; not every figure is passed on."""
        if self._pace.note(received, total, self._clock()):
            self._tell_bytes(received, total)

    def succeeded(self) -> None:
        """The job is over; its last events."""
        self._finish_bytes()
        message = f"{self._job.kind} of {self._job.engine}: succeeded"
        self._feed.publish(self._job.id, "status", message=message)
        self._feed.publish(self._job.id, "progress", progress=self._progress("done"))

    def failed(self, error: ErrorDetail) -> None:
        """The job is over; its last events."""
        self._finish_bytes()
        self._feed.publish(
            self._job.id,
            "error",
            level="error",
            message=error.message,
            data=error.to_object(),
        )
        self._feed.publish(
            self._job.id, "progress", level="error", progress=self._progress("failed")
        )

    def _finish_bytes(self) -> None:
        rest = self._pace.rest()
        if rest is not None:
            self._tell_bytes(*rest)
        self._pace = BytesPace()

    def _tell_bytes(self, received: int, total: int | None) -> None:
        data = {"received": received} if total is None else {"received": received, "total": total}
        self._feed.publish(
            self._job.id,
            "progress",
            progress=self._progress("running"),
            data=data,
            is_passing=True,
        )

    def _progress(self, status: str) -> Progress:
        steps = self._job.steps
        return Progress.model_validate(
            {
                "phase": self._job.step,
                "index": steps.index(self._job.step) + 1,
                "total": len(steps),
                "status": status,
            }
        )
