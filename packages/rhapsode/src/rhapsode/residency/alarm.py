"""A timer that rings at the earliest of the moments it was set to."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from math import inf


class Alarm:
    """Rings too early rather than too often: whoever it wakes looks at what is due, and sets it
    again. A moment that only moves away costs nothing.
    """

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def set(self, moment: float) -> None:
        """Rings at a moment of the loop's clock at the latest; never where it is infinite."""
        if moment == inf or self._is_closed:
            return
        if self._timer is not None:
            if self._timer.when() <= moment:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(
            # What it sets off is nobody's request, whoever set it.
            moment,
            self._go_off,
            context=Context(),
        )

    def close(self) -> None:
        """Rings no more."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _go_off(self) -> None:
        self._timer = None
        self._ring()
