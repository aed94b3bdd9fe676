"""Who gets a place on the card, and whose model has to go for it: a function of values.

Nothing that speaks is ever evicted, and nobody starves: whoever has to wait for another engine to
finish speaking singles one out, and nobody who comes later gets a lease on that one, so that it
does finish. Requests for models that are there and not singled out pass those who wait.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Want:
    """A model that a request needs."""

    engine: str
    variant: str


@dataclass(frozen=True)
class Place:
    """A place on the card that an engine has. One engine has one at most."""

    engine: str

    variant: str
    """What is there, or was last asked for."""

    leases: int
    """Requests that use it now."""

    taken: float = 0
    """When its last lease was taken; any clock that never runs back."""

    used: float = 0
    """When it was last in use; the same clock."""

    is_ending: bool = False
    """Its model is on its way out; the place is free once that is gone."""

    is_empty: bool = False
    """It ends a process that holds no model, so nobody gains a place by it."""

    is_deaf: bool = False
    """It was to end and could not be told: it keeps its place, and is not told again for now."""


@dataclass(frozen=True)
class Grant:
    """The request at `index` in the line gets its lease now."""

    index: int


@dataclass(frozen=True)
class Evict:
    """The model of `engine` has to go, so that somebody in line gets its place."""

    engine: str


@dataclass(frozen=True)
class Refuse:
    """The request at `index` cannot have a place, since all that there are are held by models that
    could not be told to go; `engine` is one of them.
    """

    index: int

    engine: str


@dataclass(frozen=True)
class Wait:
    """Nothing can be done now."""

    blocked_by: str | None = None
    """The engine that the first in line waits for."""

    assured: frozenset[int] = frozenset()
    """Those in line who wait for nobody to finish speaking: a place is theirs as soon as models
    that are on their way out are gone.
    """


Step = Grant | Evict | Refuse
"""What can be done for one request."""


def plan(
    places: Sequence[Place],
    line: Sequence[Want],
    most: int,
    shut: Collection[str] = (),
    clearing: str | None = None,
) -> Step | Wait:
    """Decides the next step for whoever stands in line.

    Args:
        places: What is on the card, one an engine.
        line: Who waits, in the order in which they came.
        most: Models that may be resident; more may be, where it was lowered since.
        shut: Engines that nobody gets a lease on for now.
        clearing: An engine whose process is on its way out and may have left something of a model
            that did not load; until it is gone nobody gets a new place.
    """
    return _Round(places, most, shut, clearing).decide(line)


class _Round:
    """One look along the line, from its head, with what those in front have claimed."""

    def __init__(
        self, places: Sequence[Place], most: int, shut: Collection[str], clearing: str | None
    ) -> None:
        self._shut = shut
        self._clearing = clearing
        self._places = {place.engine: place for place in places}
        held = [place for place in places if not place.is_empty]
        self._spare = most - len(held)
        """Places that are free; below 0 where there are more models than allowed."""
        self._coming = sum(place.is_ending for place in held)
        """Places that become free, and that nobody in front has claimed; below 0 where they have
        claimed more, so that the next one needs a place more.
        """
        self._deaf = [place.engine for place in held if place.is_deaf]
        self._is_lost = len(self._deaf) >= most
        """Whether nobody who speaks or is on their way out can make room."""
        self._closed: set[str] = set()
        """Engines that nobody who comes later gets a lease on."""
        self._blocked_by: str | None = None
        self._assured: dict[int, Want] = {}
        self._is_anyone_in_doubt = False
        """Whether somebody in front waits for speaking to end."""

    def decide(self, line: Sequence[Want]) -> Step | Wait:
        for index, want in enumerate(line):
            step = self._step_for(index, want)
            if step is not None:
                return step
        return Wait(self._blocked_by, frozenset(self._assured))

    def _step_for(self, index: int, want: Want) -> Step | None:
        """Returns what can be done for one request, or claims for it what it waits for."""
        if want.engine in self._closed:
            # It gets its lease with the one in front, unless another has singled that model out.
            is_shared = want in self._assured.values() and not self._is_anyone_in_doubt
            self._stand(index, want, is_assured=is_shared)
            return None
        place = self._places.get(want.engine)
        if want.engine in self._shut:
            # What is done to it once nobody speaks is bounded by itself.
            self._block(want.engine)
            self._stand(index, want, is_assured=place is None or not place.leases)
            return None
        if place is None or place.is_ending:
            return self._make_room(index, want, place)
        # The worker itself changes its model, once nobody uses the other one.
        if place.variant == want.variant or not place.leases:
            return Grant(index)
        self._block(place.engine)
        self._stand(index, want, is_assured=False)
        return None

    def _make_room(self, index: int, want: Want, old: Place | None) -> Step | None:
        """Finds a place for a request whose engine has none, or an `old` one that ends first."""
        if old is None and self._spare > 0:
            if self._clearing is None:
                return Grant(index)
            self._spare -= 1
            self._block(self._clearing)
            self._stand(index, want, is_assured=True)
            return None
        if self._is_lost:
            return Refuse(index, self._deaf[0])
        is_assured = self._has_room_coming()
        while not self._has_room_coming():
            victim = self._victim()
            if victim is None:
                break
            if not victim.leases:
                return Evict(victim.engine)
            self._closed.add(victim.engine)
            self._block(victim.engine)
            self._coming += 1
        if self._spare > 0 and old is not None and old.is_empty:
            self._spare -= 1
        else:
            self._coming -= 1
        self._block(old.engine if old is not None else self._ending())
        self._stand(index, want, is_assured=is_assured)
        return None

    def _has_room_coming(self) -> bool:
        return self._spare + self._coming > 0

    def _victim(self) -> Place | None:
        """Returns the model to go: the idle one used longest ago, else, to be waited for, the one
        whose last lease was taken longest ago. None where nothing is left to go.
        """
        left = [
            place
            for place in self._places.values()
            if not (place.is_ending or place.is_empty or place.is_deaf)
            and place.engine not in self._closed
        ]
        idle = [place for place in left if not place.leases]
        if idle:
            return min(idle, key=lambda place: place.used)
        return min(left, key=lambda place: place.taken, default=None)

    def _ending(self) -> str | None:
        places = self._places.values()
        return next((one.engine for one in places if one.is_ending and not one.is_empty), None)

    def _block(self, engine: str | None) -> None:
        self._blocked_by = self._blocked_by or engine

    def _stand(self, index: int, want: Want, *, is_assured: bool) -> None:
        """Keeps a request in line, and those who come later for the same engine behind it."""
        self._closed.add(want.engine)
        if is_assured:
            self._assured[index] = want
        else:
            self._is_anyone_in_doubt = True
