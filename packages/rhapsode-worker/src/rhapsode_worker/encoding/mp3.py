"""MP3 through LAME. Child only."""

from typing import Final, Protocol, cast

import lameenc  # pyright: ignore[reportMissingTypeStubs]  # has none

from rhapsode_worker.encoding.mp3_info import with_info
from rhapsode_worker.encoding.rates import mp3_kbps

_QUALITY: Final = 2
"""Of 0 (slow) to 9; from here down nothing more is heard, and it is 200 × real time."""


class Mp3Codec:
    """A constant bitrate; streamed without an Info frame, whole with one.

    libsndfile writes MP3 too, but leaves a placeholder for that frame at the head of a stream,
    which tells players a wrong length.
    """

    def __init__(self, sample_rate_hz: int, channels: int, *, is_buffered: bool) -> None:
        self._bytes_per_frame = 2 * channels
        self._whole = bytearray() if is_buffered else None
        self._samples = 0
        lame = cast("_Lame", lameenc.Encoder())  # pyright: ignore[reportUnknownMemberType]
        lame.silence()
        lame.set_channels(channels)
        lame.set_in_sample_rate(sample_rate_hz)
        # Else LAME picks a rate it finds fit for the bitrate.
        lame.set_out_sample_rate(sample_rate_hz)
        lame.set_bit_rate(mp3_kbps(sample_rate_hz, channels))
        lame.set_quality(_QUALITY)
        self._lame = lame

    def encode(self, pcm: bytes) -> bytes:
        """As `Codec.encode`. Every byte of an MP3 stream is audio; there are no headers."""
        self._samples += len(pcm) // self._bytes_per_frame
        encoded = bytes(self._lame.encode(pcm))
        if self._whole is None:
            return encoded
        self._whole += encoded
        return b""

    def finish(self) -> bytes:
        """As `Codec.finish`."""
        tail = bytes(self._lame.flush())
        if self._whole is None:
            return tail
        return with_info(bytes(self._whole) + tail, self._samples)


class _Lame(Protocol):
    """The part of `lameenc.Encoder` that is used."""

    def silence(self) -> None: ...
    def set_channels(self, channels: int, /) -> None: ...
    def set_in_sample_rate(self, rate_hz: int, /) -> None: ...
    def set_out_sample_rate(self, rate_hz: int, /) -> None: ...
    def set_bit_rate(self, kbps: int, /) -> None: ...
    def set_quality(self, quality: int, /) -> None: ...
    def encode(self, pcm: bytes, /) -> bytearray: ...
    def flush(self) -> bytearray: ...
