"""How often a download is worth an event."""

from typing import Final

INTERVAL_SECONDS: Final = 0.5
"""Between two events of one download; a person sees no more, and the buffer is for more than it."""


class BytesPace:
    """Lets the first figure of a download pass, the last, and a few in between."""

    def __init__(self) -> None:
        self._told: tuple[int, int | None] | None = None
        self._told_at = 0.0
        self._withheld: tuple[int, int | None] | None = None

    def note(self, received: int, total: int | None, at: float) -> bool:
        """Returns whether a figure should be told now.

        Args:
            received: Bytes so far.
            total: Bytes in all, where known.
            at: The time, in seconds of a clock that only goes forward.
        """
        figure = (received, total)
        if figure == self._told:
            self._withheld = None
            return False
        is_due = self._told is None or at - self._told_at >= INTERVAL_SECONDS
        if not is_due and received != total:
            self._withheld = figure
            return False
        self._told, self._told_at, self._withheld = figure, at, None
        return True

    def rest(self) -> tuple[int, int | None] | None:
        """Returns the figure that was held back last, for when no more come."""
        withheld, self._withheld = self._withheld, None
        return withheld
