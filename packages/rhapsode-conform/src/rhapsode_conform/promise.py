"""One promise of the worker protocol."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """What breaking a promise means."""

    MUST = "must"
    """The worker does not conform."""
    SHOULD = "should"
    """It is told, and the worker conforms all the same."""


@dataclass(frozen=True)
class Promise:
    """An entry of the manifest."""

    id: str
    """`<section>.<subject>.<point>`, the id of the contract's rule."""

    text: str
    """The promise in a sentence."""

    level: Level

    @property
    def section(self) -> str:
        """The contract's section, `6`, or `d` for what its design adds."""
        return self.id.partition(".")[0]


def must(promise_id: str, text: str) -> Promise:
    """Returns a promise that a worker keeps or does not conform."""
    return Promise(promise_id, text, Level.MUST)


def should(promise_id: str, text: str) -> Promise:
    """Returns a promise that a worker may break and still conform."""
    return Promise(promise_id, text, Level.SHOULD)
