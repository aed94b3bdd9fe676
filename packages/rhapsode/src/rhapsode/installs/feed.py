"""What jobs tell while they run: an event feed for each, kept so that a client can come back.

Events lie in one buffer a job, and a reader is a place in it. So a reader that takes nothing holds
nothing up and costs nothing; when the buffer has moved past its place, it hears that it missed
something (shapes, "The event feed of a job").
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

import anyio
from rhapsode_contract import JobEvent, Progress

KEPT_EVENTS: Final = 1000
"""Of each job."""

MESSAGE_CHARACTERS: Final = 2000
"""A longer message is cut, so that the events of a job have a size."""

EventKind = Literal["progress", "status", "log", "error"]
Level = Literal["debug", "info", "warn", "error"]

_LAST_EVENT_ID_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Event:
    """One event, written once for however many readers."""

    id: int
    """Grows from event to event over all jobs of this process, and is never used again."""
    kind: EventKind
    data: bytes
    """A `JobEvent` as JSON."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a reader has not seen yet."""

    has_gap: bool
    """Whether events were lost before the first of `events`."""
    events: tuple[Event, ...]


@dataclass
class _Channel:
    """The events of one job."""

    events: deque[Event] = field(default_factory=lambda: deque[Event]())
    lost_id: int = 0
    """The last event that had to make room."""
    newest_id: int = 0
    passing: Event | None = None
    """The event that the next of its sort takes the place of."""
    is_closed: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)

    def wake(self) -> None:
        """Has every reader look again."""
        self.changed.set()
        self.changed = anyio.Event()


class Reader:
    """One reader's place in the events of a job."""

    def __init__(self, channel: _Channel, last_event_id: str | None) -> None:
        """Begins behind the event that a client saw last.

        Args:
            channel: The job's.
            last_event_id: As the client sent it; with None it gets everything that is kept.
        """
        self._channel = channel
        self._seen_id = channel.lost_id
        self._has_gap = False
        if last_event_id:
            place = place_after(last_event_id, channel.lost_id, channel.newest_id)
            self._has_gap = place is None
            self._seen_id = channel.lost_id if place is None else place

    def take(self) -> Batch:
        """Returns what came since the last call; of a gap only what lies behind it."""
        channel = self._channel
        has_gap = self._has_gap or self._seen_id < channel.lost_id
        fresh: list[Event] = []
        for event in reversed(channel.events):
            if event.id <= self._seen_id:
                break
            fresh.append(event)
        self._has_gap = False
        self._seen_id = max(self._seen_id, channel.newest_id)
        return Batch(has_gap, tuple(reversed(fresh)))

    @property
    def is_over(self) -> bool:
        """Whether everything was taken, and nothing comes any more."""
        is_read = self._channel.newest_id <= self._seen_id and not self._has_gap
        return self._channel.is_closed and is_read

    async def wait(self) -> None:
        """Returns once there is something to take, or nothing comes any more."""
        channel = self._channel
        while not (channel.newest_id > self._seen_id or self._has_gap or channel.is_closed):
            await channel.changed.wait()


def place_after(last_event_id: str, lost_id: int, newest_id: int) -> int | None:
    """Returns the id behind which a client goes on, or None where it missed something.

    Args:
        last_event_id: What it says it saw last, whatever that is.
        lost_id: The newest event that is not kept any more, 0 where all are.
        newest_id: The newest event of all, 0 where there is none.
    """
    is_number = last_event_id.isascii() and last_event_id.isdecimal()
    if not is_number or len(last_event_id) > _LAST_EVENT_ID_DIGITS:
        return None
    seen_id = int(last_event_id)
    # Beyond the newest: it comes from another life of the server, or from nowhere.
    return seen_id if lost_id <= seen_id <= newest_id else None


class Feed:
    """The events of all jobs that are known."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Args:
        now: Stamps the events.
        """
        self._now = now
        self._newest_id = 0
        self._channels: dict[str, _Channel] = {}

    def open(self, job: str) -> None:
        """Begins the events of a job."""
        self._channels[job] = _Channel()

    def forget(self, job: str) -> None:
        """Lets a job's events go; a reader that is there may take the rest."""
        channel = self._channels.pop(job)
        channel.is_closed = True
        channel.wake()

    def close(self) -> None:
        """Lets every reader end that has taken everything, since nothing more will come."""
        for channel in self._channels.values():
            channel.is_closed = True
            channel.wake()

    def reader(self, job: str, last_event_id: str | None = None) -> Reader:
        """Returns a reader of a job's events, which must be known.

        Args:
            job: Its id.
            last_event_id: What the client saw last, as it sent it.
        """
        return Reader(self._channels[job], last_event_id)

    def publish(
        self,
        job: str,
        kind: EventKind,
        *,
        level: Level = "info",
        message: str | None = None,
        progress: Progress | None = None,
        data: dict[str, Any] | None = None,
        is_passing: bool = False,
    ) -> None:
        """Adds an event; never waits for a reader.

        Args:
            job: Its id.
            kind: What sort of event it is.
            level: How much it matters.
            message: For a person; cut where it is long.
            progress: How far the job is.
            data: More, as JSON values.
            is_passing: Whether the next passing event of the job says all that this one does, and
                takes its place.
        """
        self._newest_id += 1
        event = JobEvent(
            id=self._newest_id,
            ts=self._now(),
            kind=kind,
            source="installs",
            correlation_id=job,
            level=level,
            message=None if message is None else _sayable(message),
            progress=progress,
            data=data,
        )
        _add(self._channels[job], Event(event.id, kind, event.to_json()), is_passing=is_passing)


def _add(channel: _Channel, event: Event, *, is_passing: bool) -> None:
    if is_passing:
        if channel.passing is not None:
            channel.events.remove(channel.passing)
        channel.passing = event
    channel.events.append(event)
    channel.newest_id = event.id
    if len(channel.events) > KEPT_EVENTS:
        lost = channel.events.popleft()
        channel.lost_id = lost.id
        if lost is channel.passing:
            channel.passing = None
    channel.wake()


def _sayable(message: str) -> str:
    """Returns a message as JSON can carry it: bounded, and Unicode."""
    return message[:MESSAGE_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
