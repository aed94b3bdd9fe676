"""Does something to a voice store in a process that is killed before its n-th file operation.

    python crashing.py FOLDER

For n = 1, 2, … a child is forked from a fresh folder and killed with
SIGKILL just before the n-th operation, until one ends by itself. Written as JSON, for each: whether
it ended by itself, what a worker that starts then finds before its sweep and after it, and the
files that are left.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from rhapsode_worker.voicing.store import VoiceStore
from store_room import files_in, make, open_store, seen

_OPERATIONS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.link"})


def prepare(folder: Path, scenario: str) -> None:
    """Makes what is there before."""
    store = open_store(folder)
    store.sweep()
    if scenario not in {"create", "first"}:
        make(store, "narrator", b"old", label="Old", transcript="Old words.")
    if scenario == "first":
        shutil.rmtree(folder)


ACTIONS: dict[str, Callable[[VoiceStore], object]] = {
    "first": lambda store: make(store, "narrator", b"new", label="New"),
    "create": lambda store: make(store, "narrator", b"new", label="New"),
    "replace": lambda store: make(store, "narrator", b"new", label="New"),
    "relabel": lambda store: make(store, "narrator", b"old", label="New"),
    "retype": lambda store: make(store, "narrator", b"new", label="New", file_type="flac"),
    "delete": lambda store: store.delete("narrator"),
}


def kill_before(number: int) -> None:
    """Kills this process just before its n-th operation on files."""
    left = number

    def watch(event: str, _: object) -> None:
        nonlocal left
        if event in _OPERATIONS:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def run(folder: Path, scenario: str) -> list[list[object]]:
    """Runs one scenario until a child ends by itself."""
    lives: list[list[object]] = []
    for number in count(1):
        shutil.rmtree(folder, ignore_errors=True)
        prepare(folder, scenario)
        child = os.fork()
        if not child:
            kill_before(number)
            ACTIONS[scenario](open_store(folder))
            os._exit(0)
        has_ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        restarted = open_store(folder)
        found = [row[:4] for row in seen(restarted)]
        restarted.sweep()
        swept = [row[:4] for row in seen(restarted)]
        lives.append([has_ended, found, swept, files_in(folder)])
        if has_ended:
            break
    return lives


def main() -> None:
    """Runs every scenario."""
    folder = Path(sys.argv[1])
    sys.stdout.write(json.dumps({scenario: run(folder, scenario) for scenario in ACTIONS}))


if __name__ == "__main__":
    main()
