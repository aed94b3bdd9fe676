"""The 44 bytes before the samples of a WAV file."""

import struct
from typing import Final

from rhapsode_worker.native_format import NativeFormat

_UNKNOWN_SIZE: Final = 0xFFFF_FFFF
_HEADER_BYTES: Final = 44
_PCM: Final = 1
_FMT_CHUNK_BYTES: Final = 16


def wav_header(native: NativeFormat, data_bytes: int) -> bytes:
    """Returns the header of a file whose samples take exactly `data_bytes`.

    Raises:
        ValueError: Half a frame, or more than the 4 GiB that a WAV can say.
    """
    if data_bytes % native.bytes_per_frame:
        raise ValueError(f"{data_bytes} bytes are not whole frames of {native.bytes_per_frame}")
    if data_bytes + _HEADER_BYTES > _UNKNOWN_SIZE:
        raise ValueError(f"{data_bytes} bytes do not fit a WAV file")
    return _header(native, data_bytes + _HEADER_BYTES - 8, data_bytes)


def streamed_wav_header(native: NativeFormat) -> bytes:
    """Returns the header of a file whose length nobody knows yet.

    Both sizes are 0xFFFFFFFF, which players read as "until the end".
    """
    return _header(native, _UNKNOWN_SIZE, _UNKNOWN_SIZE)


def _header(native: NativeFormat, riff_bytes: int, data_bytes: int) -> bytes:
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        riff_bytes,
        b"WAVE",
        b"fmt ",
        _FMT_CHUNK_BYTES,
        _PCM,
        native.channels,
        native.sample_rate,
        native.bytes_per_second,
        native.bytes_per_frame,
        8 * native.bytes_per_frame // native.channels,
        b"data",
        data_bytes,
    )
