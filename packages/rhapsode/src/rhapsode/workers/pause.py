"""The time between two lives of a worker."""

from collections.abc import Callable

import anyio
import anyio.abc
from rhapsode_http import request_id

from rhapsode.workers.restarts import Rest


class Pause:
    """A rest before the next start; at most one at a time."""

    def __init__(self, tasks: anyio.abc.TaskGroup, start: Callable[[], None]) -> None:
        """Args:
        tasks: Where it is waited.
        start: Called at the end of a pause that nobody has broken off; it breaks off what there
            may be by then.
        """
        self._tasks = tasks
        self._start = start
        self._rest: Rest | None = None
        self._over = anyio.Event()

    @property
    def is_to_be_waited_for(self) -> bool:
        """Whether not even a demand is a reason to start now."""
        return self._rest is not None and not self._rest.may_be_cut_short

    def take(self, rest: Rest) -> None:
        """Begins; where `rest` is followed by no start there is nothing to begin."""
        if rest.seconds is not None:
            self._rest, self._over = rest, anyio.Event()
            self._tasks.start_soon(self._wait, rest, self._over, rest.seconds)

    async def ended(self) -> None:
        """Waits until it is over, or broken off."""
        await self._over.wait()

    def break_off(self) -> None:
        """Ends it, and nothing follows. Idempotent."""
        self._rest = None
        self._over.set()

    async def _wait(self, rest: Rest, over: anyio.Event, seconds: float) -> None:
        request_id.set(None)
        with anyio.move_on_after(seconds):
            await over.wait()
        if self._rest is rest:
            self._start()
