"""Timers of a connection: one that is moved often, and one that watches writing."""

import asyncio
from collections.abc import Callable

from rhapsode_http.ahead import Backlog

_STALL_CHECKS = 4
"""How often a stalled writer is looked at within its time: it is dropped at most a fourth late."""


class Deadline:
    """Calls back once, a time after it was last started.

    Moving it costs a comparison and no new timer, so that it may move with every piece of data.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, expired: Callable[[], None]) -> None:
        self._loop = loop
        self._expired = expired
        self._due: float | None = None
        self._handle: asyncio.TimerHandle | None = None

    def start(self, seconds: float) -> None:
        """Expires `seconds` from now, whatever was set before."""
        self._due = self._loop.time() + seconds
        if self._handle is not None and self._handle.when() > self._due:
            self._handle.cancel()
            self._handle = None
        if self._handle is None:
            self._handle = self._loop.call_at(self._due, self._look)

    def stop(self) -> None:
        """Does not expire until it is started again."""
        self._due = None

    def close(self) -> None:
        """Stops it and frees its timer."""
        self._due = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _look(self) -> None:
        self._handle = None
        if self._due is None:
            return
        if self._loop.time() < self._due:
            self._handle = self._loop.call_at(self._due, self._look)
            return
        self._due = None
        self._expired()


class WriteStall:
    """Calls back when a peer has taken no byte for a time while bytes wait to be written.

    `observe()` is called before and after each write: between two observations the buffer only
    shrinks, and that it shrank is how a peer is seen to read.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.WriteTransport,
        seconds: float,
        stalled: Callable[[], None],
        backlog: Backlog,
    ) -> None:
        self._backlog = backlog
        self._loop = loop
        self._transport = transport
        self._seconds = seconds
        self._stalled = stalled
        self._waiting_bytes = 0
        self._progress_at = 0.0
        self._timer = Deadline(loop, self._check)
        self._is_watching = False

    def observe(self) -> None:
        """Notes how much waits to be written; starts watching where anything does."""
        waiting = self._transport.get_write_buffer_size()
        now = self._loop.time()
        if waiting < self._waiting_bytes or self._waiting_bytes == 0:
            self._progress_at = now
        self._backlog.note(waiting - self._waiting_bytes)
        self._waiting_bytes = waiting
        if waiting and not self._is_watching:
            self._is_watching = True
            self._timer.start(self._seconds / _STALL_CHECKS)

    def close(self) -> None:
        """Stops watching; nothing waits on a connection that is gone."""
        self._timer.close()
        self._backlog.note(-self._waiting_bytes)
        self._waiting_bytes = 0

    def _check(self) -> None:
        self._is_watching = False
        self.observe()
        if self._waiting_bytes and self._loop.time() - self._progress_at >= self._seconds:
            self._stalled()
