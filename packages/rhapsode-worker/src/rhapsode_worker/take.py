"""One utterance's samples, on their way from the engine's thread to the response."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable

import anyio
from rhapsode_contract import RhapsodeError


class Abandoned(Exception):
    """Nobody listens to this take any more; raised where the engine would give it more audio."""


class Room:
    """How much audio may wait for slow readers, over all responses of a worker.

    Synthesis runs ahead of the network, so that a slow reader does not hold the engine from the
    next caller; the room is what bounds it. May be used from any thread.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._changed = threading.Condition()

    @property
    def held_bytes(self) -> int:
        """Bytes that wait now."""
        return self._held_bytes

    def take(self, size: int) -> None:
        """Counts `size` bytes as held, whether or not there is room."""
        with self._changed:
            self._held_bytes += size

    def give_back(self, size: int) -> None:
        """Counts `size` bytes as gone."""
        with self._changed:
            self._held_bytes -= size
            self._changed.notify_all()

    def wait(self, until: Callable[[], bool]) -> None:
        """Blocks while there is no room, or until `until` says so and `wake` was called."""
        with self._changed:
            self._changed.wait_for(lambda: self._held_bytes < self._limit_bytes or until())

    def wake(self) -> None:
        """Lets everyone who waits look again."""
        with self._changed:
            self._changed.notify_all()


class Take:
    """The samples of one utterance: the engine's thread puts them in, the event loop reads them.

    Made on the event loop. `put` and `end` are called on the engine's thread, the rest on the
    loop.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._loop = asyncio.get_running_loop()
        self._pieces: deque[bytes] = deque()
        self._is_over = False
        self._is_abandoned = False
        self._failure: RhapsodeError | None = None
        # Replaced at every change. Test a condition, then wait on this, with no await between.
        self._changed = anyio.Event()

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody listens any more."""
        return self._is_abandoned

    def put(self, pcm: bytes) -> None:
        """Adds samples, once there is room for them; none at all are taken for a sign of life.

        Raises:
            Abandoned: Nobody listens any more.
        """
        self._room.wait(until=lambda: self._is_abandoned)
        if self._is_abandoned:
            raise Abandoned
        if not pcm:
            return
        self._room.take(len(pcm))
        self._pieces.append(pcm)
        self._tell_the_loop()

    def end(self, failure: RhapsodeError | None = None) -> None:
        """Says that there is no more, because it is whole or because it failed."""
        self._failure = failure
        self._is_over = True
        self._tell_the_loop()

    async def begins(self) -> None:
        """Waits for the first samples, or for the end of a take without any.

        Raises:
            RhapsodeError: The engine failed before there was audio.
        """
        while not self._pieces and not self._is_over:
            await self._changed.wait()
        if not self._pieces and self._failure is not None:
            raise self._failure

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yields the samples as they come.

        Raises:
            RhapsodeError: The engine failed; what came so far is not the whole.
        """
        while True:
            # Read before the pieces: what is put before the end is never missed.
            is_over = self._is_over
            while self._pieces:
                pcm = self._pieces.popleft()
                self._room.give_back(len(pcm))
                yield pcm
            if is_over:
                break
            if not self._pieces and not self._is_over:
                await self._changed.wait()
        if self._failure is not None:
            raise self._failure

    def abandon(self) -> None:
        """Says that nobody listens any more; the engine stops at its next piece. Idempotent."""
        self._is_abandoned = True
        while self._pieces:
            self._room.give_back(len(self._pieces.popleft()))
        self._room.wake()

    def _tell_the_loop(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._note_change)
        except RuntimeError:  # the loop is closed: the worker leaves before its engine has stopped
            self._is_abandoned = True

    def _note_change(self) -> None:
        if self._is_abandoned:
            # A piece that was put while the listener left.
            self.abandon()
        self._changed.set()
        self._changed = anyio.Event()
