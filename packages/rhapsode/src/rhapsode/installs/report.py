"""What a running job is told to say of itself."""

from typing import Literal, Protocol

from rhapsode_contract import JobStep


class Report(Protocol):
    """Hears of a job's work. Called on the loop's thread; must not block."""

    def step(self, step: JobStep) -> None:
        """The job goes on to a step."""
        ...

    def line(self, text: str, level: Literal["debug", "info", "warn", "error"] = "info") -> None:
        """Something that the job runs has printed: one line, of bounded length."""
        ...

    def bytes(self, received: int, total: int | None) -> None:
        """A download has come this far; `total` is None where nobody knows it."""
        ...
