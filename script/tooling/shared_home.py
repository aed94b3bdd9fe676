"""The folder of quickstart's servers, which one at a time has: config, database, engines, log."""

import fcntl
import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from commands import ROOT, CommandFailed, say

HOME = ROOT / ".quickstart"
"""The user's own config and data are never touched."""

LOG = HOME / "server.log"

_CONFIG = HOME / "rhapsode.toml"
_LOCK = HOME / "serving.lock"
_URL = HOME / "serving.url"
_LOOK_SECONDS = 0.2


@contextmanager
def turn() -> Generator[str | None]:
    """Waits until no other run has a server here.

    Yields:
        None once the folder is this run's, or the URL of a server that stays and is running: one
        database has one server.
    """
    HOME.mkdir(exist_ok=True)
    with _LOCK.open("w") as lock:
        has_told = False
        while not _taken(lock):
            url = _staying()
            if url is not None:
                yield url
                return
            if not has_told:
                say("  waiting for another quickstart …")
                has_told = True
            time.sleep(_LOOK_SECONDS)
        _URL.unlink(missing_ok=True)  # of one that was killed
        yield None


@contextmanager
def staying(url: str) -> Generator[None]:
    """Tells other runs of a server that stays, for the length of the block."""
    _URL.write_text(url, encoding="utf-8")
    try:
        yield
    finally:
        _URL.unlink(missing_ok=True)


def write_config(port: int) -> Path:
    """Writes the config of a server on this machine's loopback; 0 is any free port."""
    _CONFIG.write_text(
        "# Written by script/quickstart at every run.\n"
        f'[server]\nhost = "127.0.0.1"\nport = {port}\n\n'
        f"[workers]\nvoiceDir = {_toml(HOME / 'voices')}\n\n"
        f"[install]\nvenvDir = {_toml(HOME / 'venvs')}\n",
        encoding="utf-8",
    )
    return _CONFIG


def with_log(error: CommandFailed) -> CommandFailed:
    """Returns a failure of what a server did, saying where its log is, if there is one."""
    return CommandFailed(f"{error}\n    (the server's log: {LOG})") if LOG.exists() else error


def _taken(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _staying() -> str | None:
    try:
        return _URL.read_text(encoding="utf-8") or None
    except FileNotFoundError:
        return None


def _toml(path: Path) -> str:
    # A JSON string is a TOML string, once nothing outside the basic plane is escaped in halves.
    return json.dumps(str(path), ensure_ascii=False)
