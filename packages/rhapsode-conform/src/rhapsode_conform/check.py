"""A check: how one promise is looked at, and what has to be there for that."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rhapsode_conform.manifest import MANIFEST
from rhapsode_conform.promise import Promise
from rhapsode_conform.subject import Subject

Run = Callable[[Subject], Awaitable[None]]
"""Returns where the promise is kept, and raises a `Finding` otherwise."""


class Need(StrEnum):
    """What a check needs, in the words of `--list`."""

    SPAWNED = "a worker that this tool starts"
    SEED = "a seed that reproduces"
    VARIANTS = "two variants"
    CUES = "a variant with cues"
    UNCLAIMED_CUE = "a variant that leaves a cue out"
    DELIVERIES = "a variant with deliveries"
    NO_DELIVERY = "a variant that leaves a delivery out"
    DIALS = "a variant with dials"
    LANGUAGES = "a variant of several languages"
    ONE_LANGUAGE = "a variant of one language"
    VOICES = "voices"
    TWO_VOICES = "two voices"
    CLONING = "a variant that clones"
    BLENDING = "a variant that blends"
    MAKING = "a variant that clones or blends"
    NO_BLENDING = "a variant that does not blend"
    DIALOGUE = "a variant with dialogue"
    NO_DIALOGUE = "a variant without dialogue"


@dataclass(frozen=True)
class Check:
    """The check of one promise."""

    promise: Promise

    family: str
    """The module it stands in."""

    needs: tuple[Need, ...]

    run: Run

    @property
    def id(self) -> str:
        """The promise's."""
        return self.promise.id


REGISTRY: Final[dict[str, Check]] = {}
"""Every check by its id, in the order in which they are registered."""


def check(promise_id: str, *needs: Need) -> Callable[[Run], Run]:
    """Registers a function as the check of a promise.

    Raises:
        KeyError: The manifest has no such promise, or it has a check already.
    """

    def register(run: Run) -> Run:
        if promise_id in REGISTRY:
            raise KeyError(f"{promise_id} has two checks")
        family = run.__module__.rpartition(".")[2]
        REGISTRY[promise_id] = Check(MANIFEST[promise_id], family, needs, run)
        return run

    return register
