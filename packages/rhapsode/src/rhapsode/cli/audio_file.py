"""A file of audio that is there whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

_WAV_SIZES_UNKNOWN: Final = 0xFFFFFFFF
_WAV_HEADER_BYTES: Final = 44


@contextmanager
def whole_file(path: Path) -> Generator[BinaryIO]:
    """Opens a file that takes its place when the block ends well, and leaves nothing otherwise.

    What a link leads to is written, and a device or a pipe is written into: neither is replaced.

    Raises:
        OSError: The folder is not there, is full or may not be written to. Its `filename` is
            `path`, whatever file it happened to.
    """
    # No `Path.resolve`: before Python 3.13 it has an exception of its own for links in a circle.
    target = Path(os.path.realpath(path))
    try:
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                yield stream
        else:
            with _replacing(target) as file:
                yield file
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def _replacing(path: Path) -> Generator[BinaryIO]:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            _write_wav_sizes(file)
        # A temporary file is for its owner alone; this one is to be like any other.
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write_wav_sizes(file: BinaryIO) -> None:
    """Puts the sizes into the header of a streamed WAV, which could not know them."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    header = file.read(_WAV_HEADER_BYTES)
    unknown = _WAV_SIZES_UNKNOWN.to_bytes(4, "little")
    is_streamed = header[:4] == b"RIFF" and header[36:40] == b"data" and header[40:44] == unknown
    if is_streamed:
        for offset, value in ((4, size - 8), (40, size - _WAV_HEADER_BYTES)):
            file.seek(offset)
            file.write(min(value, _WAV_SIZES_UNKNOWN).to_bytes(4, "little"))


def _umask() -> int:
    # The only way to read it is to set it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
