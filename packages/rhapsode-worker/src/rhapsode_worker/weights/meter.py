"""How far a fetch is, told often enough to be watched and rarely enough to be read."""

import logging
import time
from collections.abc import Callable
from typing import Final, TypeAlias

logger = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[int, int], None]
"""Takes the bytes done and the bytes in all; called on the thread that fetches."""

_LEAST_INTERVAL_SECONDS: Final = 0.5


def log_progress(received: int, total: int) -> None:
    """Logs a line that the core relays into the job's feed (design, "Weights")."""
    logger.info(
        "fetched %d of %d bytes",
        received,
        total,
        extra={"event": "fetch", "received": received, "total": total},
    )


class Meter:
    """Counts the bytes of all files of one fetch and tells of them at most twice a second.

    What it tells never goes down: a file that arrives wrong and is fetched again does not take
    back what was said. A call of `show` means that bytes moved, also where the count stays.
    """

    def __init__(
        self, total: int, tell: Progress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._tell = tell
        self._clock = clock
        self._done = 0
        self._shown = 0
        self._told: int | None = None
        self._told_at = 0.0

    def show(self, current: int) -> None:
        """Notes that the file at hand has come to `current` bytes."""
        self._shown = max(self._shown, min(self._done + current, self._total))
        if self._told is None or self._clock() - self._told_at >= _LEAST_INTERVAL_SECONDS:
            self._tell_now()

    def finish_file(self, size: int) -> None:
        """Notes that the file at hand, of `size` bytes, is in place."""
        self._done += size
        self.show(0)

    def finish(self) -> None:
        """Tells of the end, unless that was told."""
        self._shown = self._total
        if self._told != self._total:
            self._tell_now()

    def _tell_now(self) -> None:
        self._told, self._told_at = self._shown, self._clock()
        self._tell(self._shown, self._total)
