"""What should happen to the one place on the card: a function of values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Want:
    """A model that a request needs."""

    engine: str
    variant: str


@dataclass(frozen=True)
class Place:
    """The place and who uses it."""

    holds: Want | None
    """What is there, or was last put there; None after an eviction."""

    leases: int
    """Requests that use it now."""

    is_being_emptied: bool = False


@dataclass(frozen=True)
class Grant:
    """The first in line gets its lease now."""


@dataclass(frozen=True)
class Evict:
    """The process of `engine` has to end before the first in line gets its lease."""

    engine: str


@dataclass(frozen=True)
class Wait:
    """Nothing can be done now."""


def plan(place: Place, first: Want | None) -> Grant | Evict | Wait:
    """Decides the next step for the first in line, or for nobody.

    Only the first is ever looked at: who comes later waits behind it even where the model it
    wants is there, so nobody starves. Nothing that speaks is evicted.
    """
    if first is None or place.is_being_emptied:
        return Wait()
    if place.holds is None or place.holds == first:
        return Grant()
    if place.leases:
        return Wait()
    if place.holds.engine == first.engine:
        return Grant()  # the worker itself changes its model
    return Evict(place.holds.engine)
