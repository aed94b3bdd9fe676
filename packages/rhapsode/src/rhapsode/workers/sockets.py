"""The private folder in which a core's workers have their sockets."""

import fcntl
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final

from rhapsode.settings.place import tidied
from rhapsode.settings.start_refused import StartRefused
from rhapsode.workers.orphans import end_orphans

SOCKETS_KEY: Final = "workers.socketDir"

_OF_A_CORE: Final = re.compile(r"core-(\d{1,9})-.+")
_LOCK: Final = ".lock"
_LONGEST_UNIX_PATH_BYTES: Final = 103
"""The smallest of the platforms we run on (macOS); Linux takes 107."""

_LARGEST_PID: Final = 4_194_304 if sys.platform == "linux" else 99_999
_RANDOM_CHARACTERS: Final = 8
"""That a temporary name ends with."""


class SocketFolderRefused(StartRefused):
    """No folder for sockets can be had; one line that says why."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{SOCKETS_KEY}: {why}", SOCKETS_KEY)


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
        folder, lock = _new_folder(base)
    with lock:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def check_socket_folder(base: Path, engines: Iterable[str]) -> None:
    """Looks whether a core could have a folder below `base`, whatever its pid; leaves none there.

    Args:
        base: As `socket_folder` would be given it.
        engines: Those that are to have a socket in it.

    Raises:
        SocketFolderRefused: It could not, or a socket's path would be too long.
    """
    longest = base / f"{_prefix(_LARGEST_PID)}{'_' * _RANDOM_CHARACTERS}"
    for engine in engines:
        socket_path(longest, engine)
    with _refusing(base), tidied(base):
        _claim(base)
        os.listdir(base)
        folder, lock = _new_folder(base)
        with lock:
            shutil.rmtree(folder)


def socket_path(folder: Path, engine: str) -> Path:
    """Returns where an engine's socket lies.

    Raises:
        SocketFolderRefused: The path is longer than the platform allows.
    """
    path = folder / f"{engine}.sock"
    length = len(os.fsencode(path))
    if length > _LONGEST_UNIX_PATH_BYTES:
        raise SocketFolderRefused(
            f"the socket {path} has a path of {length} bytes,"
            f" {_LONGEST_UNIX_PATH_BYTES} are possible; choose a shorter folder"
        )
    return path


@contextmanager
def _refusing(base: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SocketFolderRefused(
            f"{base} can't be used: {error.strerror}; the server has to list and write it"
        ) from None


def _claim(base: Path) -> None:
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = base.stat()
    if status.st_uid != os.geteuid():
        raise SocketFolderRefused(f"{base} belongs to user {status.st_uid}, not to us")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SocketFolderRefused(f"others may write into {base}")


def _prefix(pid: int) -> str:
    return f"core-{pid}-"


def _new_folder(base: Path) -> tuple[Path, IO[str]]:
    """Makes a folder that no other core sweeps while its lock is open."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(os.getpid()), dir=base))
        lock = _locked(folder)
        if lock is not None:
            return folder, lock
        # Between its making and its lock it looked like one that was left behind, and another
        # core sweeps it; never waited for, since that core may be stopped.
        shutil.rmtree(folder, ignore_errors=True)


def _locked(folder: Path) -> IO[str] | None:
    """Locks a new folder; None where a sweep was faster.

    By the lock and not by its pid a core is known to live: pids come again, in a container soon.
    """
    with ExitStack() as giving_up:
        try:
            lock = giving_up.enter_context((folder / _LOCK).open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, FileNotFoundError):
            return None
        if not (folder / _LOCK).exists():  # what is locked is of a folder that is gone
            return None
        giving_up.pop_all()
        return lock
    raise AssertionError("unreachable: the stack swallows nothing")


def _sweep(base: Path) -> None:
    for folder in base.iterdir():
        left_by = _OF_A_CORE.fullmatch(folder.name)
        if left_by is not None:
            _sweep_unless_held(folder, int(left_by[1]))


def _sweep_unless_held(folder: Path, pid: int) -> None:
    """Removes what a core left behind, its lock held so that nobody takes it meanwhile."""
    with ExitStack() as held:
        try:
            lock = held.enter_context((folder / _LOCK).open("r+"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            if _is_alive(pid):  # it has no lock yet, or was made in another way
                return
        except OSError:
            return  # a core that lives holds it, or it is no folder of a core, or not ours
        end_orphans(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
