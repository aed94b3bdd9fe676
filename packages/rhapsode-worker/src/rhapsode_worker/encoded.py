"""A take on its way through its encoder."""

import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from rhapsode_contract import Internal, RhapsodeError
from rhapsode_http import beside

from rhapsode_worker.encoding.encoder import Encoder
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.take import Room, Take

Lend = Callable[[], AbstractAsyncContextManager[Encoder]]
"""Lends the encoder of one response for as long as a block lasts."""


class Meter:
    """How much audio an utterance has come to so far."""

    def __init__(self, native: NativeFormat, max_seconds: int) -> None:
        """Args:
        native: What the samples are.
        max_seconds: The most there may be, held in memory or streamed.
        """
        self._native = native
        self._max_bytes = max_seconds * native.bytes_per_second
        self._bytes = 0

    @property
    def duration_ms(self) -> int:
        """Whole milliseconds of audio so far."""
        return self._native.duration_ms(self._bytes)

    def count(self, pcm: bytes) -> None:
        """Counts samples.

        Raises:
            Internal: They are more than there may be.
        """
        self._bytes += len(pcm)
        if self._bytes > self._max_bytes:
            raise Internal(
                f"the engine made over {self._max_bytes // self._native.bytes_per_second} seconds"
                " of audio, a second for each character that a request may have"
            )

    def check_heard(self) -> None:
        """Holds a whole take against silence.

        Raises:
            Internal: There was not one sample.
        """
        if self._bytes < self._native.bytes_per_frame:
            raise Internal("the engine made no audio of this text")


@asynccontextmanager
async def encoded(
    take: Take, lend: Lend, meter: Meter, room: Room
) -> AsyncGenerator[AsyncIterator[bytes]]:
    """Encodes a take while the block reads the pieces; encoding does not wait for the reader.

    Nothing waits for a slow reader but the engine itself, and that only past `room`. An encoder
    is lent from the first samples to the end of the take: neither who waits in line nor a slow
    reader holds one.

    Yields:
        The encoded pieces, the first of them with audio in it. They end in the take's failure
        where there was one.
    """
    encoding = _Encoding(take, meter, room)
    try:
        async with beside(lambda: encoding.run(lend)):
            yield encoding.read()
    finally:
        encoding.close()


class _Encoding:
    """One take being encoded, and the pieces that wait for the reader."""

    def __init__(self, take: Take, meter: Meter, room: Room) -> None:
        self._take = take
        self._meter = meter
        self._room = room
        self._ahead, self._pieces = anyio.create_memory_object_stream[bytes](math.inf)
        self._waiting_bytes = 0
        self._failure: RhapsodeError | None = None

    async def run(self, lend: Lend) -> None:
        """Encodes to the end of the take; a failure of it is kept for the reader."""
        try:
            await self._take.begins()
            async with lend() as encoder, anyio.create_task_group() as both:
                both.start_soon(self._feed, encoder)
                both.start_soon(self._collect, encoder)
        except* RhapsodeError as failures:
            self._failure = _first(failures)
        finally:
            self._ahead.close()

    async def read(self) -> AsyncIterator[bytes]:
        """Yields the pieces.

        Raises:
            RhapsodeError: What came so far is not the whole.
        """
        async for piece in self._pieces:
            self._waiting_bytes -= len(piece)
            self._room.give_back(len(piece))
            yield piece
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Gives back the room of what nobody will read. `run` has ended by now."""
        self._pieces.close()
        self._room.give_back(self._waiting_bytes)

    async def _feed(self, encoder: Encoder) -> None:
        async for pcm in self._take.pieces():
            self._meter.count(pcm)
            await encoder.write(pcm)
        self._meter.check_heard()
        await encoder.finish()

    async def _collect(self, encoder: Encoder) -> None:
        async for piece in encoder:
            self._waiting_bytes += len(piece)
            self._room.take(len(piece))
            self._ahead.send_nowait(piece)


def _first(failures: BaseExceptionGroup[RhapsodeError]) -> RhapsodeError:
    """Returns the first error in a group; the others follow from it."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
