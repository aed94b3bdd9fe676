"""Answers that are written before their listeners have room for them."""

import asyncio
from typing import Final

RUNS_AHEAD: Final = "rhapsode.runs_ahead"
"""Key of `http.response.start` that says whether an answer does."""

PACED_BYTES: Final = 64 * 1024
"""What may wait to be written of an answer that goes at its listener's pace; asyncio's own mark,
from which on a transport says when it has room again."""


class Backlog:
    """What waits to be written on all connections of a server, together."""

    def __init__(self, limit_bytes: int) -> None:
        """Begins with nothing.

        Args:
            limit_bytes: While more waits, no answer runs ahead of its listener.
        """
        self._limit_bytes = limit_bytes
        self._waiting_bytes = 0
        self._paused: set[asyncio.Event] = set()

    @property
    def has_room(self) -> bool:
        """Whether answers may run ahead."""
        return self._waiting_bytes < self._limit_bytes

    def note(self, change_bytes: int) -> None:
        """Takes note that so much more waits than before; negative where it is less."""
        self._waiting_bytes += change_bytes
        if self._paused and self.has_room:
            for room in self._paused:
                room.set()

    async def wait(self, room: asyncio.Event) -> None:
        """Returns once there is room, or `room` is set by somebody else."""
        self._paused.add(room)
        try:
            await room.wait()
        finally:
            self._paused.discard(room)
