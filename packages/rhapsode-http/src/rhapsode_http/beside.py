"""Tasks beside a block, and waits beside each other."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def beside(
    task: Callable[[], Coroutine[Any, Any, None]],
) -> AsyncGenerator[anyio.CancelScope]:
    """Runs `task` beside the block and ends it with the block.

    An error of the block passes through as it is, where a bare task group would wrap it in a
    group of one. An error of `task` ends the block and comes out as a group.

    Yields:
        The scope of both: cancelling it ends the block and the task.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(task)
        try:
            yield tasks.cancel_scope
        except Exception as error:
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def first_of(*waits: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Returns when the first of `waits` does; the others are cancelled."""
    async with anyio.create_task_group() as tasks:

        async def wait_for(wait: Callable[[], Coroutine[Any, Any, object]]) -> None:
            await wait()
            tasks.cancel_scope.cancel()

        for wait in waits:
            tasks.start_soon(wait_for, wait)
