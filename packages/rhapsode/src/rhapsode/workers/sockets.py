"""The private folder in which a core's workers have their sockets."""

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rhapsode.workers.orphans import end_orphans

_OF_A_CORE: Final = re.compile(r"core-(\d+)-.+")
_LOCK: Final = ".lock"
_LONGEST_UNIX_PATH_BYTES: Final = 103
"""The smallest of the platforms we run on (macOS); Linux takes 107."""


class SocketFolderRefused(Exception):
    """No folder for sockets can be had; one line that says why."""


@contextmanager
def socket_folder(base: Path) -> Generator[Path]:
    """Makes a folder below `base` that only we can enter, and removes it at the end.

    Folders that cores before us left behind when they were killed are removed too, and workers
    that have outlived these cores are ended.

    Raises:
        SocketFolderRefused: `base` can't be made, read or written, isn't ours, or others may
            write into it.
    """
    with _refusing(base):
        _claim(base)
        _sweep(base)
        folder = Path(tempfile.mkdtemp(prefix=f"core-{os.getpid()}-", dir=base))
        lock = (folder / _LOCK).open("w")
    with lock:
        # By this and not by its pid a core is known to live: pids come again, in a container soon.
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def socket_path(folder: Path, engine: str) -> Path:
    """Returns where an engine's socket lies.

    Raises:
        SocketFolderRefused: The path is longer than the platform allows.
    """
    path = folder / f"{engine}.sock"
    length = len(os.fsencode(path))
    if length > _LONGEST_UNIX_PATH_BYTES:
        raise SocketFolderRefused(
            f"workers.socketDir: the socket {path} has a path of {length} bytes,"
            f" {_LONGEST_UNIX_PATH_BYTES} are possible; choose a shorter folder"
        )
    return path


@contextmanager
def _refusing(base: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SocketFolderRefused(
            f"workers.socketDir: {base} can't be used: {error.strerror};"
            " the server has to list and write it"
        ) from None


def _claim(base: Path) -> None:
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = base.stat()
    if status.st_uid != os.geteuid():
        raise SocketFolderRefused(
            f"workers.socketDir: {base} belongs to user {status.st_uid}, not to us"
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SocketFolderRefused(f"workers.socketDir: others may write into {base}")


def _sweep(base: Path) -> None:
    for folder in base.iterdir():
        left_by = _OF_A_CORE.fullmatch(folder.name)
        if left_by is not None and not _is_held(folder, int(left_by[1])):
            end_orphans(folder)
            shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path, pid: int) -> bool:
    """Whether the core that made a folder lives."""
    try:
        with (folder / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return _is_alive(pid)  # it has no lock yet, or was made in another way
    return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
