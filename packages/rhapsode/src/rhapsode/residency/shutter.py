"""Engines that nobody gets a lease on for a while, since they are being changed or removed."""

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Final

import anyio
from rhapsode_contract import Conflict

_LEAST_TURN_SECONDS: Final = 0.1


class Shutter:
    """Shuts engines, one holder at a time each, once nobody speaks on them."""

    def __init__(
        self,
        is_speaking: Callable[[str], bool],
        wait_seconds: Callable[[], float],
        opened: Callable[[], None],
    ) -> None:
        """Args:
        is_speaking: Whether somebody has a lease on an engine.
        wait_seconds: What a request waits for others to finish speaking.
        opened: Called each time an engine is open again.
        """
        self._is_speaking = is_speaking
        self._wait_seconds = wait_seconds
        self._opened = opened
        self._holders: set[str] = set()
        """Engines that are shut, or are to be."""
        self._shut: dict[str, anyio.Event] = {}
        """Those that are, each with what is set once nobody speaks on it."""

    @property
    def engines(self) -> Collection[str]:
        """Those that nobody gets a lease on now."""
        return self._shut.keys()

    def note_silence(self, engine: str) -> None:
        """Takes note that the last lease on an engine has ended."""
        if engine in self._shut:
            self._shut[engine].set()

    @asynccontextmanager
    async def shut(self, engine: str, wait_seconds: float) -> AsyncGenerator[None]:
        """Keeps everybody off an engine for the length of the block: who wants it waits in line.

        Those who speak on it are waited for. Meanwhile it is shut for half of what a request waits
        and then open for as long, so that a long utterance costs no request its turn, and an engine
        on which somebody always speaks falls silent all the same.

        Args:
            engine: Which, whether it has a place or not.
            wait_seconds: How long it may go on speaking.

        Raises:
            Conflict: It still spoke then, or somebody else shuts it.
        """
        if engine in self._holders:
            raise Conflict(f"engine: {engine!r} is being changed already")
        self._holders.add(engine)
        deadline = anyio.current_time() + wait_seconds
        try:
            while not await self._is_silent(engine, deadline):
                if anyio.current_time() >= deadline:
                    still = f" still, after {wait_seconds:g} s" if wait_seconds else ""
                    raise Conflict(f"engine: {engine!r} is speaking{still}")
                turn = max(self._turn_seconds, _LEAST_TURN_SECONDS)
                await anyio.sleep_until(min(deadline, anyio.current_time() + turn))
            yield
        finally:
            self._holders.remove(engine)
            self._open(engine)

    async def _is_silent(self, engine: str, deadline: float) -> bool:
        """Shuts an engine, and waits for its leases to end; open again where they do not."""
        if not self._is_speaking(engine):
            self._shut[engine] = anyio.Event()
            return True
        if self._turn_seconds < _LEAST_TURN_SECONDS:
            return False  # nobody who came now would wait for it
        silent = self._shut[engine] = anyio.Event()
        with anyio.CancelScope(deadline=min(deadline, anyio.current_time() + self._turn_seconds)):
            await silent.wait()
            return True
        self._open(engine)
        return False

    @property
    def _turn_seconds(self) -> float:
        return self._wait_seconds() / 2

    def _open(self, engine: str) -> None:
        if self._shut.pop(engine, None) is not None:
            self._opened()
