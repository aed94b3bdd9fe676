"""Answers that are written before their listeners have room for them."""

from typing import Final

RUNS_AHEAD: Final = "rhapsode.runs_ahead"
"""Key of `http.response.start` that says whether an answer does."""

_PACED_BYTES: Final = 64 * 1024
"""What may wait to be written of an answer that goes at its listener's pace; asyncio's own."""


class Backlog:
    """What waits to be written on all connections of a server, together."""

    def __init__(self, limit_bytes: int) -> None:
        """Begins with nothing.

        Args:
            limit_bytes: While more waits, no answer runs ahead of its listener.
        """
        self._limit_bytes = limit_bytes
        self._waiting_bytes = 0

    def note(self, change_bytes: int) -> None:
        """Takes note that so much more waits than before; negative where it is less."""
        self._waiting_bytes += change_bytes

    def room_for(self, runs_ahead: bool) -> int:
        """Returns how much of one answer may wait before whoever makes it has to."""
        is_free = runs_ahead and self._waiting_bytes < self._limit_bytes
        return self._limit_bytes if is_free else _PACED_BYTES
