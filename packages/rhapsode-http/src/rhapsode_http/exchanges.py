"""The tasks of a server's requests, none of which outlives it."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self


class Exchanges:
    """Owns a task for each request being answered; its block ends when all of them have.

    What a task group is for, at a third of the cost of its `start_soon`, which is paid for every
    request: an exchange raises nothing but cancellation, so there is no error to gather.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        # A request that another one let go on must not inherit that one's context.
        self._context = contextvars.copy_context()

    def start(self, exchange: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Starts a task."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(exchange(), context=self._context.copy())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Cancels every task that still runs."""
        for task in self._tasks:
            task.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks)
