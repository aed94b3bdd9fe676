"""What a check comes to."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The four ways a check can end."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """The promise is not this worker's to keep, or cannot be seen the way it was reached."""
    UNDECIDED = "undecided"
    """The check ran, and what it saw says neither yes nor no."""


@dataclass(frozen=True)
class Outcome:
    """A verdict with its reason."""

    verdict: Verdict

    why: str = ""
    """What is wrong, or why there is no verdict; empty where the check passed."""

    seen: str = ""
    """What the worker did or said, where it failed."""


PASSED = Outcome(Verdict.PASSED)


class Finding(Exception):
    """Ends a check with an outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.why)
        self.outcome = outcome


def failed(why: str, seen: object = "") -> Finding:
    """Returns what a check raises when the worker breaks the promise."""
    return Finding(Outcome(Verdict.FAILED, why, shown(seen)))


def skipped(why: str) -> Finding:
    """Returns what a check raises when there is nothing to check."""
    return Finding(Outcome(Verdict.SKIPPED, why))


def undecided(why: str) -> Finding:
    """Returns what a check raises when it cannot tell."""
    return Finding(Outcome(Verdict.UNDECIDED, why))


def expect(holds: bool, why: str, seen: object = "") -> None:
    """Goes on where `holds`.

    Raises:
        Finding: It does not: the promise is broken.
    """
    if not holds:
        raise failed(why, seen)


def shown(value: object, characters: int = 300) -> str:
    """Returns `value` on one line, cut where it is long."""
    text = " ".join(str(value).split())
    return text if len(text) <= characters else text[:characters] + "…"
