"""A take on its way through its encoder."""

import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio
from rhapsode_contract import Internal, RhapsodeError
from rhapsode_http import beside

from rhapsode_worker.encoding.encoder import Encoder
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.take import Room, Take


class Meter:
    """How much audio an utterance has come to so far."""

    def __init__(self, native: NativeFormat, max_seconds: int | None) -> None:
        """Args:
        native: What the samples are.
        max_seconds: Where an answer is held in memory, the most it may hold.
        """
        self._native = native
        self._max_bytes = None if max_seconds is None else max_seconds * native.bytes_per_second
        self._bytes = 0

    @property
    def duration_ms(self) -> int:
        """Whole milliseconds of audio so far."""
        return self._native.duration_ms(self._bytes)

    def count(self, pcm: bytes) -> None:
        """Counts samples.

        Raises:
            Internal: They are more than may be held.
        """
        self._bytes += len(pcm)
        if self._max_bytes is not None and self._bytes > self._max_bytes:
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
    take: Take, encoder: Encoder, meter: Meter, room: Room
) -> AsyncGenerator[AsyncIterator[bytes]]:
    """Encodes a take while the block reads the pieces; encoding does not wait for the reader.

    Nothing waits for a slow reader but the engine itself, and that only past `room`: so the
    encoder is free as soon as the take is whole.

    Yields:
        The encoded pieces, the first of them with audio in it. They end in the take's failure
        where there was one.
    """
    ahead, pieces = anyio.create_memory_object_stream[bytes](math.inf)
    failure: RhapsodeError | None = None
    waiting_bytes = 0

    async def feed() -> None:
        async for pcm in take.pieces():
            meter.count(pcm)
            await encoder.write(pcm)
        meter.check_heard()
        await encoder.finish()

    async def collect() -> None:
        nonlocal waiting_bytes
        async for piece in encoder:
            waiting_bytes += len(piece)
            room.take(len(piece))
            ahead.send_nowait(piece)

    async def encode() -> None:
        nonlocal failure
        try:
            async with anyio.create_task_group() as both:
                both.start_soon(feed)
                both.start_soon(collect)
        except* RhapsodeError as failures:
            failure = _first(failures)
        finally:
            ahead.close()

    async def read() -> AsyncIterator[bytes]:
        nonlocal waiting_bytes
        async for piece in pieces:
            waiting_bytes -= len(piece)
            room.give_back(len(piece))
            yield piece
        if failure is not None:
            raise failure

    try:
        async with beside(encode):
            yield read()
    finally:
        pieces.close()
        room.give_back(waiting_bytes)


def _first(failures: BaseExceptionGroup[RhapsodeError]) -> RhapsodeError:
    """Returns the first error in a group; the others follow from it."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
