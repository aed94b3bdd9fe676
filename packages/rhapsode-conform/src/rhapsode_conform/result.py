"""What each check came to, and what that makes of the worker."""

from collections import Counter
from dataclasses import dataclass

from rhapsode_conform.check import Check
from rhapsode_conform.outcome import Outcome, Verdict
from rhapsode_conform.promise import Level


@dataclass(frozen=True)
class Result:
    """One check that was run."""

    check: Check

    outcome: Outcome

    seconds: float
    """How long it took."""

    is_overdue: bool = False
    """Whether it was given up because it took too long."""

    is_unasked: bool = False
    """Whether it was not run at all, since those before it took too long."""

    @property
    def is_broken_must(self) -> bool:
        """Whether it is a promise without which a worker does not conform."""
        is_failed = self.outcome.verdict is Verdict.FAILED
        return is_failed and self.check.promise.level is Level.MUST


@dataclass(frozen=True)
class Report:
    """All checks of one worker."""

    target: str
    """The worker, as it was named."""

    results: tuple[Result, ...]

    @property
    def was_checked(self) -> bool:
        """Whether any check was run; without one there is no verdict."""
        return any(result.outcome.verdict is not Verdict.SKIPPED for result in self.results)

    @property
    def is_broken(self) -> bool:
        """Whether a promise that must be kept is not."""
        return any(result.is_broken_must for result in self.results)

    @property
    def unasked(self) -> int:
        """How many checks were not run, since those before them took too long."""
        return sum(result.is_unasked for result in self.results)

    @property
    def conforms(self) -> bool:
        """Whether every promise that must be kept is kept, as far as could be seen.

        Of a worker that was given up there is no saying so.
        """
        return self.was_checked and not self.is_broken and not self.unasked

    @property
    def failed(self) -> tuple[str, ...]:
        """The ids of the promises that are broken, whether they must be kept or should be."""
        return tuple(
            result.check.id for result in self.results if result.outcome.verdict is Verdict.FAILED
        )

    def counts(self) -> dict[str, int]:
        """Returns how many checks ended in each way."""
        counted = Counter(result.outcome.verdict for result in self.results)
        return {verdict.value: counted[verdict] for verdict in Verdict}
