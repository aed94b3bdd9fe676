"""The end that SIGTERM asks for: whatever was started is ended first."""

import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from rhapsode_http import beside

T = TypeVar("T")


class Ended(Exception):
    """SIGTERM came before there was a verdict."""


async def until_ended(work: Callable[[], Awaitable[T]]) -> T:
    """Runs `work`; SIGTERM cancels it, so that no worker and no folder of ours is left behind.

    Raises:
        Ended: It came.
    """
    was_told = False
    with anyio.open_signal_receiver(signal.SIGTERM) as signals, anyio.CancelScope() as scope:

        async def hear() -> None:
            nonlocal was_told
            async for _ in signals:
                was_told = True
                scope.cancel()

        async with beside(hear):
            return await work()
    assert was_told, "nothing else cancels the scope"
    raise Ended("ended by SIGTERM, before a verdict")
