"""One utterance's encoder, as the rest of the worker sees it."""

from collections.abc import AsyncIterator
from typing import Final, Protocol, Self

import anyio
from rhapsode_contract.errors import ModelUnavailable

from rhapsode_worker.encoding.wav import streamed_wav_header, wav_header
from rhapsode_worker.native_format import NativeFormat

_PIECES_AHEAD: Final = 4
"""Encoded pieces that may wait for the reader before the writer waits too."""


class EncoderCrashed(ModelUnavailable):
    """The encoder process ended, or gave up, before its response was whole.

    Worth a retry: the request was fine, and the next one gets another process.
    """


class Encoder(Protocol):
    """PCM in, encoded bytes out; two tasks, one that writes and one that reads.

    Either may be slower: the other then waits, with a bounded amount in between.
    """

    async def write(self, pcm: bytes) -> None:
        """Takes the next PCM: any length, cut anywhere, also inside a sample.

        Raises:
            EncoderCrashed: Nothing more will be encoded.
        """
        ...

    async def finish(self) -> None:
        """Says that there is no more PCM. Half a frame at the very end is dropped.

        Raises:
            EncoderCrashed: Nothing more will be encoded.
        """
        ...

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def __anext__(self) -> bytes:
        """Gives encoded pieces, none empty, until the response is whole.

        The first holds audio, never headers alone. Without any PCM there is no piece at all.

        Raises:
            EncoderCrashed: What came so far is not a whole response.
        """
        ...


class FrameAligner:
    """Bytes in pieces of any length become whole frames."""

    def __init__(self, bytes_per_frame: int) -> None:
        self._bytes_per_frame = bytes_per_frame
        self._rest = b""

    def align(self, pcm: bytes) -> bytes:
        """Returns the frames that are whole now; the rest waits for the next call."""
        pcm = self._rest + pcm
        whole = len(pcm) - len(pcm) % self._bytes_per_frame
        self._rest = pcm[whole:]
        return pcm[:whole]


class InPlaceEncoder:
    """WAV and PCM: the samples as they are, behind a header or none."""

    def __init__(self, format: str, native: NativeFormat, *, is_buffered: bool) -> None:
        self._native = native
        self._aligner = FrameAligner(native.bytes_per_frame)
        self._has_header = format == "wav"
        self._kept: list[bytes] | None = [] if is_buffered and self._has_header else None
        self._header = streamed_wav_header(native) if self._has_header else b""
        self._in, self._out = anyio.create_memory_object_stream[bytes](_PIECES_AHEAD)

    async def write(self, pcm: bytes) -> None:
        """As `Encoder.write`; never raises of itself."""
        frames = self._aligner.align(pcm)
        if not frames:
            return
        if self._kept is not None:
            self._kept.append(frames)
            return
        await self._in.send(self._header + frames)
        self._header = b""

    async def finish(self) -> None:
        """As `Encoder.finish`."""
        if self._kept:
            header = wav_header(self._native, sum(map(len, self._kept)))
            await self._in.send(header + self._kept[0])
            for frames in self._kept[1:]:
                await self._in.send(frames)
        self._in.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """As `Encoder.__anext__`."""
        return await self._out.__anext__()

    def close(self) -> None:
        """Wakes whoever still waits on either side."""
        self._in.close()
        self._out.close()
