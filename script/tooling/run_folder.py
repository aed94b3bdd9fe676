"""The folder of one run of a tool: its config and its log, gone when the run is."""

import os
import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from commands import CommandFailed

LOG = "server.log"
"""The file that is kept when the run fails."""

_FAILED = "failed.log"
_OF_A_RUN = re.compile(r"run-(\d+)-.+")


@contextmanager
def run_folder(home: Path) -> Generator[Path]:
    """Makes a folder below `home` and removes it when the block ends, however it ends.

    Folders of runs that were killed are removed too. Of a run that fails, the log stays, as one
    file that the next failure replaces.

    Raises:
        CommandFailed: The block raised it; the message says where the log is.
    """
    _sweep(home)
    folder = Path(tempfile.mkdtemp(prefix=f"run-{os.getpid()}-", dir=home))
    try:
        yield folder
    except CommandFailed as error:
        raise with_log(error, _kept(folder / LOG, home / _FAILED)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def with_log(error: CommandFailed, log: Path) -> CommandFailed:
    """Returns the failure of what a server did, saying where its log is, if there is one."""
    return CommandFailed(f"{error}\n    (the server's log: {log})") if log.exists() else error


def _kept(log: Path, place: Path) -> Path:
    try:
        return log.replace(place)
    except FileNotFoundError:
        return log


def _sweep(home: Path) -> None:
    for folder in home.glob("run-*"):
        run = _OF_A_RUN.fullmatch(folder.name)
        if run is not None and not _is_alive(int(run[1])):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
