"""Where a file waits, within the voice folder, until it is a voice.

Nothing here is ever listed. A staged file belongs to the process that holds its lock; one that
nobody holds is what a dead process left.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rhapsode_worker.voicing.folder import Folder

STORE: Final = ".store"
"""The folder, in the voice folder, of all that is no reference. No voice id begins with a point."""

INCOMING: Final = "incoming"
"""The folder, in that one, of staged files."""

LOCK: Final = "lock"
"""The file, beside that folder, that is held while a voice is made of one."""


class Staged:
    """A file that becomes a voice, or goes when this is closed. A context manager."""

    def __init__(self, path: Path, file_type: str, file: FileIO) -> None:
        """Only `Staging` makes one."""
        self.path = path
        """Of the file; an adapter may read it, or move it to a place of its own."""

        self.type = file_type
        """Its file type, such as `wav`."""

        self._file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def write(self, data: bytes) -> int:
        """Adds to the file, all of `data`; blocks. Returns how many bytes that were.

        Raises:
            OSError: The disk is full, or broken.
        """
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        return len(data)

    def sync(self) -> None:
        """Returns when what was written is on the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Removes the file, unless it has been moved elsewhere."""
        self.path.unlink(missing_ok=True)
        self._file.close()


class Staging:
    """The staged files of a voice folder."""

    def __init__(self, voice_dir: Path) -> None:
        """Args:
        voice_dir: The voice folder, made when the first file is staged.
        """
        self._voice_dir = voice_dir

    def stage(self, file_type: str) -> Staged:
        """Makes an empty file for a reference of `file_type`. Its name is ours.

        Raises:
            OSError: It cannot be made.
        """
        path = self._voice_dir / STORE / INCOMING / f"{secrets.token_hex(8)}.{file_type}"
        while True:
            with self._incoming() as incoming:
                file = incoming.make_file(path.name)
            fcntl.flock(file, fcntl.LOCK_EX)
            # A sweep may have come between the two, and taken it for a dead process's.
            if os.fstat(file.fileno()).st_nlink:
                return Staged(path, file_type, file)
            file.close()

    def stage_copy(self, source: Path, file_type: str) -> Staged:
        """Stages what a file on this machine holds.

        Raises:
            OSError: It cannot be read, or its copy not be written.
        """
        staged = self.stage(file_type)
        try:
            with source.open("rb") as file:
                shutil.copyfileobj(file, staged)
        except BaseException:
            staged.close()
            raise
        return staged

    def sweep(self) -> None:
        """Removes what a process that died left here; to be called at a worker's start.

        Raises:
            OSError: It cannot be removed.
        """
        try:
            with (
                Folder.open(self._voice_dir) as folder,
                folder.enter(STORE) as store,
                store.enter(INCOMING) as incoming,
                store.open_lock(LOCK, is_made=True) as lock,
            ):
                fcntl.flock(lock, fcntl.LOCK_EX)
                sweep_staged(incoming)
        except FileNotFoundError:
            return  # nothing was ever staged

    @contextmanager
    def _incoming(self) -> Generator[Folder]:
        with (
            Folder.open(self._voice_dir, is_made=True) as folder,
            folder.enter(STORE, is_made=True) as store,
            store.enter(INCOMING, is_made=True) as incoming,
        ):
            yield incoming


def sweep_staged(incoming: Folder) -> None:
    """Removes the staged files that no living process holds.

    Raises:
        OSError: One cannot be removed.
    """
    for name in incoming.names():
        with incoming.open_file(name) as file:
            if _is_free(file):
                incoming.remove(name)


def _is_free(file: FileIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
