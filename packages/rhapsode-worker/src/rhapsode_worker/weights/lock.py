"""One fetch at a time in a folder, whichever process it runs in."""

import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NAME: Final = ".lock"


@contextmanager
def folder_lock(folder: Path, while_waiting: Callable[[], None]) -> Generator[None]:
    """Holds the folder. The system lets go of it for a process that dies.

    The file stays: removing a lock file lets two processes hold two files of one name.

    Args:
        folder: An existing folder.
        while_waiting: Called again and again while another fetch holds it; takes its own time,
            and raises to give up.

    Raises:
        OSError: The lock file cannot be made or opened.
    """
    descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        while not _try_lock(descriptor):
            while_waiting()
        try:
            yield
        finally:
            # Said aloud, since a forked child may still hold a copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
