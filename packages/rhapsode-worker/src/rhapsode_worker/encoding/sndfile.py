"""FLAC and Ogg Opus through libsndfile. Child only.

The library is called through the bindings that the `soundfile` distribution is built on, not
through `soundfile` itself: that one imports numpy, which would make a child four times slower to
start and twice as large.
"""

import os
from collections.abc import Callable
from importlib.util import find_spec
from io import BytesIO
from typing import Any, Final, Protocol

import _soundfile  # pyright: ignore[reportMissingTypeStubs]  # cffi makes it; it has none

from rhapsode_worker.encoding.ogg import SteadySerial

_ffi: Any = _soundfile.ffi

_FORMATS: Final = {"opus": 0x20_0000 | 0x0064, "flac": 0x17_0000 | 0x0002}
"""SF_FORMAT_OGG with OPUS, SF_FORMAT_FLAC with PCM_16."""

_SFM_WRITE: Final = 0x20
_SET_COMPRESSION_LEVEL: Final = 0x1301
_SET_OGG_PAGE_LATENCY_MS: Final = 0x1302

_OGG_PAGE_MS: Final = 60.0
"""Else an Ogg page holds a second of audio, and a listener waits for it."""

_FLAC_STREAM_LEVEL: Final = 2 / 8
"""The highest whose blocks are 1,152 frames; above, a listener waits for 4,096. Costs 5 %."""


class SndfileError(Exception):
    """libsndfile refused."""


class SndfileCodec:
    """FLAC, or Ogg Opus at the bitrate that libopus picks: 42 kbit/s for 24 kHz mono."""

    def __init__(
        self, format: str, sample_rate_hz: int, channels: int, *, is_buffered: bool
    ) -> None:
        self._bytes_per_frame = 2 * channels
        self._is_buffered = is_buffered
        self._has_begun = False
        self._header_bytes = 0
        self._sink: _Sink = _WholeSink() if is_buffered else _StreamSink()
        self._serial = SteadySerial() if format == "opus" else None
        self._callbacks = _callbacks(self._sink)
        info = _info(format, sample_rate_hz, channels)
        self._file = _library.sf_open_virtual(self._callbacks[0], _SFM_WRITE, info, _ffi.NULL)
        if self._file == _ffi.NULL:
            raise SndfileError(_text(_library.sf_strerror(_ffi.NULL)))
        if not is_buffered:
            if format == "opus":
                _command(self._file, _SET_OGG_PAGE_LATENCY_MS, _OGG_PAGE_MS)
            else:
                _command(self._file, _SET_COMPRESSION_LEVEL, _FLAC_STREAM_LEVEL)

    def encode(self, pcm: bytes) -> bytes:
        """As `Codec.encode`."""
        if not self._has_begun:
            # No codec gives audio for one frame: what it wrote by then are the headers.
            self._has_begun = True
            self._write(pcm[: self._bytes_per_frame])
            self._header_bytes = self._sink.size
            pcm = pcm[self._bytes_per_frame :]
        self._write(pcm)
        if self._is_buffered or self._sink.size == self._header_bytes:
            return b""
        return self._taken()

    def finish(self) -> bytes:
        """As `Codec.finish`."""
        file, self._file = self._file, _ffi.NULL
        if error := _library.sf_close(file):
            raise SndfileError(_text(_library.sf_error_number(error)))
        rest = self._taken()
        if self._serial is not None and self._serial.holds_back:
            raise SndfileError("what it wrote ends within an Ogg page")
        return rest

    def _taken(self) -> bytes:
        taken = self._sink.take()
        return taken if self._serial is None else self._serial.renumber(taken)

    def _write(self, pcm: bytes) -> None:
        frames = len(pcm) // self._bytes_per_frame
        samples = _ffi.cast("short*", _ffi.from_buffer(pcm))
        if frames and _library.sf_writef_short(self._file, samples, frames) != frames:
            raise SndfileError(_text(_library.sf_strerror(self._file)))


def has(format: str) -> bool:
    """Whether this libsndfile can write `format`; builds without Opus are about."""
    return bool(_library.sf_format_check(_info(format, 48_000, 1)))


class _Sink(Protocol):
    @property
    def size(self) -> int: ...
    def write(self, data: bytes) -> None: ...
    def seek(self, offset: int, whence: int) -> int: ...
    def tell(self) -> int: ...
    def take(self) -> bytes: ...


class _WholeSink:
    """A file in memory: what libsndfile goes back to correct is corrected."""

    def __init__(self) -> None:
        self._file = BytesIO()

    @property
    def size(self) -> int:
        return self._file.getbuffer().nbytes

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def seek(self, offset: int, whence: int) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def take(self) -> bytes:
        return self._file.getvalue()


class _StreamSink:
    """A file whose bytes have left: what would correct them (FLAC's length) is dropped."""

    def __init__(self) -> None:
        self.size = 0
        self._position = 0
        self._untaken = bytearray()

    def write(self, data: bytes) -> None:
        if self._position == self.size:
            self._untaken += data
            self.size += len(data)
        self._position += len(data)

    def seek(self, offset: int, whence: int) -> int:
        self._position = offset + (0, self._position, self.size)[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def take(self) -> bytes:
        taken = bytes(self._untaken)
        self._untaken.clear()
        return taken


def _load() -> Any:
    """Returns libsndfile: the one that came with `soundfile`, else the system's.

    Raises:
        OSError: There is none.
    """
    bundled = find_spec("_soundfile_data")
    if bundled is not None and bundled.submodule_search_locations:
        for folder in bundled.submodule_search_locations:
            for name in sorted(os.listdir(folder)):
                if name.startswith("libsndfile"):
                    return _ffi.dlopen(os.path.join(folder, name))
    # Only here: it brings more modules than the rest of a child, and few have to look.
    from ctypes.util import find_library

    name = find_library("sndfile")
    if name is None:
        raise OSError("libsndfile is not installed")
    return _ffi.dlopen(name)


_library: Final = _load()


def _info(format: str, sample_rate_hz: int, channels: int) -> Any:
    return _ffi.new(
        "SF_INFO*",
        {"samplerate": sample_rate_hz, "channels": channels, "format": _FORMATS[format]},
    )


def _text(message: Any) -> str:
    characters: bytes = _ffi.string(message)
    return characters.decode(errors="replace")


def _command(file: Any, command: int, value: float) -> None:
    argument = _ffi.new("double*", value)
    _library.sf_command(file, command, argument, _ffi.sizeof("double"))


def _callbacks(sink: _Sink) -> tuple[Any, list[Callable[..., int]]]:
    """Returns `sink` as libsndfile takes it, and what must live as long as the file."""

    @_ffi.callback("sf_vio_get_filelen")
    def length(_: Any) -> int:
        return sink.size

    @_ffi.callback("sf_vio_seek")
    def seek(offset: int, whence: int, _: Any) -> int:
        return sink.seek(offset, whence)

    @_ffi.callback("sf_vio_read")
    def read(_pointer: Any, _count: int, _: Any) -> int:
        return 0

    @_ffi.callback("sf_vio_write")
    def write(pointer: Any, count: int, _: Any) -> int:
        data: bytes = _ffi.buffer(pointer, count)[:]
        sink.write(data)
        return count

    @_ffi.callback("sf_vio_tell")
    def tell(_: Any) -> int:
        return sink.tell()

    functions = {
        "get_filelen": length,
        "seek": seek,
        "read": read,
        "write": write,
        "tell": tell,
    }
    return _ffi.new("SF_VIRTUAL_IO*", functions), list(functions.values())
