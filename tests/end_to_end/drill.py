"""What a server and its workers hold of the machine, for drills that see whether all came back."""

import os
import threading
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .core_process import PATIENCE_SECONDS, SOCKETS, CoreProcess

_LISTEN = b"RHAPSODE_WORKER_LISTEN=unix:"


def until(is_so: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Waits for what nobody tells us of."""
    tick = threading.Event()
    for _ in range(int(seconds * 20)):
        if is_so():
            return
        tick.wait(0.05)
    raise AssertionError("it did not come to that")


def workers_of(pid: int) -> list[int]:
    """Returns the processes that a server has started, and theirs, dead or alive: whoever has the
    address of a socket of its in the environment.
    """
    mark = _LISTEN + os.fsencode(SOCKETS / f"core-{pid}-")
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            if mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue  # gone meanwhile, or not ours
    return found


def children_of(pid: int) -> list[int]:
    """Returns the children of a process, zombies among them."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text(encoding="utf-8").split()]


def sockets_of(pid: int) -> list[Path]:
    """Returns the sockets in a server's folder."""
    return list(SOCKETS.glob(f"core-{pid}-*/*.sock"))


def post(running: CoreProcess, path: str) -> int:
    """Asks for something that has no body; returns the status."""
    request = urllib.request.Request(running.url + path, method="POST")
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return int(answer.status)


def files_of(running: CoreProcess) -> tuple[str, ...]:
    """Frees every engine, sees that nothing is left of it, and returns what the server's open files
    are. Connections of clients that have just gone may still be among them.
    """
    pid = running.process.pid
    for engine in running.get("/engines"):
        assert post(running, f"/engines/{engine['id']}/unload") == 200
    residency: dict[str, Any] = running.get("/residency")
    assert (residency["models"], residency["waiting"]) == ([], 0)
    assert {engine["process"] for engine in running.get("/engines")} == {"down"}
    assert workers_of(pid) == []
    assert children_of(pid) == []
    assert sockets_of(pid) == []
    return tuple(sorted(_kind(path) for path in Path(f"/proc/{pid}/fd").iterdir()))


def _kind(path: Path) -> str:
    try:
        return os.readlink(path).partition(":")[0]
    except FileNotFoundError:
        return "gone"


@contextmanager
def nothing_is_left(running: CoreProcess, **asked: str) -> Generator[None]:
    """Sees that after the block the next request speaks and everything else is as it was before.

    Args:
        running: The server.
        asked: The request.
    """

    def speaks() -> None:
        status, body = running.speak(**asked)
        assert status == 0
        assert len(body) > 256 and not body.startswith(b"{"), body

    speaks()  # what is only made once is made now
    before = files_of(running)
    yield
    speaks()
    after = [files_of(running)]
    try:
        until(lambda: after.append(files_of(running)) or after[-1] == before)
    except AssertionError:
        raise AssertionError(f"{before} has become {after[-1]}") from None
