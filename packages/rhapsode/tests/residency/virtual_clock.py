"""An event loop on which waiting takes no time: its clock jumps to whatever happens next."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from functools import partial

import anyio


class _ClockSelector(selectors.SelectSelector):
    """Lets the clock advance by what the loop would wait."""

    def __init__(self) -> None:
        super().__init__()
        self.now_seconds = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everybody waits, and nothing is going to happen")
        if not ready and timeout:
            self.now_seconds += timeout
        return ready


class VirtualClockLoop(asyncio.SelectorEventLoop):
    """A loop for code that waits for nothing but its own tasks and deadlines.

    Time passes only while every task waits, so a sleep of any length also lets all the others run
    as far as they can.
    """

    def __init__(self) -> None:
        self._clock = _ClockSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now_seconds


def run(main: Callable[..., Awaitable[None]], *values: object) -> None:
    """Runs a test to its end, for one that hypothesis calls many times."""
    anyio.run(partial(main, *values), backend_options={"loop_factory": VirtualClockLoop})
