"""What follows the end of a worker that nobody asked for, by how often it came (contract § 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Rest:
    """What is done next."""

    seconds: float | None
    """After so long a start is tried; None where only a demand starts it again."""

    is_failure: bool = False
    """Whether demands are refused until then."""

    may_be_cut_short: bool = False
    """Whether a demand is a reason to try at once."""


class RestPolicy(Protocol):
    """Decides what follows an end that nobody asked for."""

    @property
    def count(self) -> int:
        """Ends that nobody asked for, since the last calm stretch."""
        ...

    def note_calm(self) -> None:
        """Earns every restart back."""
        ...

    def after_end(
        self, lived_seconds: float, *, is_hopeless: bool, is_starved: bool = False
    ) -> Rest:
        """Counts an end.

        Args:
            lived_seconds: How long the worker was up; 0 for one that was never ready.
            is_hopeless: Whether another start would end in the same way; then none is made
                before somebody asks.
            is_starved: Whether it did not begin for what this machine lacks, which is no fault of
                the engine's.
        """
        ...


class Restarts:
    """Of a process: the first restart is made at once, each later one after a longer pause. Once
    there were too many the engine has failed, and a start is tried again after the time that
    earns restarts back (contract § 10, `workers.maxRestarts` and `restartDecaySeconds`).
    """

    def __init__(self, most: int, decay_seconds: float, pauses_seconds: Sequence[float]) -> None:
        """Args:
        most: Restarts in a row before the engine has failed.
        decay_seconds: After so long a failed one is tried again.
        pauses_seconds: Before each restart in a row; the last one for all after it.
        """
        self._most = most
        self._decay_seconds = decay_seconds
        self._pauses_seconds = pauses_seconds
        self._count = 0
        self._starved = 0
        """Starts in a row that this machine lacked something for."""

    @property
    def count(self) -> int:
        """See `RestPolicy`."""
        return self._count

    def note_calm(self) -> None:
        """See `RestPolicy`."""
        self._count = 0

    def after_end(
        self, lived_seconds: float, *, is_hopeless: bool, is_starved: bool = False
    ) -> Rest:
        """See `RestPolicy`."""
        if is_starved:  # tried for ever, and at once on demand: nobody knows when that is over
            self._starved += 1
            return Rest(pause_seconds(self._pauses_seconds, self._starved), may_be_cut_short=True)
        self._starved = 0
        self._count += 1
        if self._count > self._most:
            self._count = self._most + 1
            return Rest(self._decay_seconds, is_failure=True)
        if is_hopeless:
            return Rest(None)
        return Rest(pause_seconds(self._pauses_seconds, self._count))


class Reconnects:
    """The same for a worker on another machine: it is tried for ever, and at once on demand,
    since what is in the way is most likely the network.
    """

    def __init__(self, pauses_seconds: Sequence[float]) -> None:
        """Args:
        pauses_seconds: Before each try in a row; the last one for all after it.
        """
        self._pauses_seconds = pauses_seconds
        self._count = 0
        self._tries = 0

    @property
    def count(self) -> int:
        """How often the link was lost."""
        return self._count

    def note_calm(self) -> None:
        """See `RestPolicy`."""
        self._count = 0

    def after_end(
        self, lived_seconds: float, *, is_hopeless: bool, is_starved: bool = False
    ) -> Rest:
        """See `RestPolicy`."""
        was_up = lived_seconds > 0
        self._count += was_up
        self._tries = 1 if was_up else self._tries + 1
        if is_hopeless:
            return Rest(None)
        return Rest(pause_seconds(self._pauses_seconds, self._tries), may_be_cut_short=True)


def pause_seconds(pauses_seconds: Sequence[float], time: int) -> float:
    """Returns the pause before a start for the `time`-th time in a row, from 1."""
    return pauses_seconds[min(time, len(pauses_seconds)) - 1]
