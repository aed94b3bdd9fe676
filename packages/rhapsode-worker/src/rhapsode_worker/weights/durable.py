"""Files that are whole after a power cut, or not there."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

PIECE_BYTES: Final = 1 << 20


def move_into_place(source: Path, target: Path) -> None:
    """Gives a finished file its name at once, on the disk and not only in memory.

    Raises:
        OSError: It cannot be written, or the name cannot be given.
    """
    with source.open("rb") as file:
        os.fsync(file.fileno())
    source.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def sha256_of(path: Path, after_piece: Callable[[int], None]) -> str:
    """Returns the hash of a file in hexadecimal.

    Args:
        path: The file.
        after_piece: Called with the bytes read so far; may raise to give up.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256()
    read = 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
            read += len(piece)
            after_piece(read)
    return digest.hexdigest()
