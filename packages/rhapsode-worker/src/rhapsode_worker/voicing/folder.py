"""A folder held open: names are looked up in it and nowhere else, and links are never followed.

A name may have been planted by somebody else. What a plain path would follow out of the folder is
here either an error or no file.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Final

from rhapsode_contract import Internal

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Without waiting: a planted pipe would hold its reader for ever.
_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def storing(what: str) -> Generator[None]:
    """Turns a failure of the file system, such as a full disk, into what a caller hears.

    Args:
        what: Has failed, such as "the voice was not stored".

    Raises:
        Internal: In place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise Internal(f"{what}: {error.strerror or type(error).__name__}") from error


class Folder:
    """A folder, by its descriptor. Every method raises OSError where the system does."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, is_made: bool = False) -> "Generator[Folder]":
        """Opens a folder, which may itself be a link: whoever set the path may place it anywhere.

        Args:
            path: Of the folder.
            is_made: Whether to make it, and those above it, where it is not there.
        """
        if is_made:
            path.mkdir(parents=True, exist_ok=True)
        with _held(os.open(path, _FOLDER)) as folder:
            yield folder

    @contextmanager
    def enter(self, name: str, *, is_made: bool = False) -> "Generator[Folder]":
        """Opens a folder in this one, which may not be a link."""
        if is_made:
            try:
                os.mkdir(_plain(name), dir_fd=self._descriptor)
                self.sync()
            except FileExistsError:
                pass
        opened = os.open(_plain(name), _FOLDER | os.O_NOFOLLOW, dir_fd=self._descriptor)
        with _held(opened) as folder:
            yield folder

    def names(self) -> list[str]:
        """Returns the names of the files in it, links and the like left out, in order."""
        with os.scandir(self._descriptor) as entries:
            return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))

    def open_file(self, name: str) -> FileIO:
        """Opens a file to be read.

        Raises:
            OSError: Also where it is a link, a pipe or the like.
        """
        descriptor = os.open(_plain(name), os.O_RDONLY | _FILE, dir_fd=self._descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(f"{name} is no plain file")
        return FileIO(descriptor, "r")

    def make_file(self, name: str) -> FileIO:
        """Makes a file to be written and read, unbuffered; none of that name may be there."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _FILE
        return FileIO(os.open(_plain(name), flags, 0o666, dir_fd=self._descriptor), "r+")

    def write_file(self, name: str, data: bytes) -> None:
        """Makes a file that holds `data`, and returns when it is on the disk; or makes none."""
        try:
            with self.make_file(name) as file:
                left = memoryview(data)
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
        except OSError:
            self.remove(name)
            raise

    def open_lock(self, name: str, *, is_made: bool) -> FileIO:
        """Opens a file that is there to be locked, and made if need be."""
        flags = os.O_RDWR | os.O_CREAT if is_made else os.O_RDONLY
        return FileIO(os.open(_plain(name), flags | _FILE, 0o666, dir_fd=self._descriptor), "r")

    def move(self, name: str, to: "Folder", new_name: str) -> None:
        """Gives a file another place, at once and whole, where it replaces what was there."""
        os.rename(
            _plain(name),
            _plain(new_name),
            src_dir_fd=self._descriptor,
            dst_dir_fd=to._descriptor,
        )

    def remove(self, name: str) -> None:
        """Removes a file; one that is not there is fine."""
        with suppress(FileNotFoundError):
            os.unlink(_plain(name), dir_fd=self._descriptor)

    def sync(self) -> None:
        """Returns when the names in it are on the disk."""
        os.fsync(self._descriptor)


@contextmanager
def _held(descriptor: int) -> Generator[Folder]:
    try:
        yield Folder(descriptor)
    finally:
        os.close(descriptor)


def _plain(name: str) -> str:
    """Returns a name that stays in its folder.

    Raises:
        OSError: It does not.
    """
    if "/" in name or "\0" in name or name in {"", ".", ".."}:
        raise OSError(f"{name!r} is no plain name")
    return name
