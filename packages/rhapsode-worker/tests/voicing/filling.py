"""Makes a voice again and again, with 1 KiB more of room each time, until there is enough.

    python filling.py FOLDER disk|file

Writes what each failure said, as JSON. With `disk` the folder's disk is small, and filled; with
`file` no file may be longer than the room.
"""

import json
import resource
import sys
from pathlib import Path

from rhapsode_contract import Internal
from store_room import files_in, make, open_store, seen

OLD = [("narrator", "narrator.wav", "Old", "Old words.", b"old")]


def leave_on_disk(folder: Path, free_bytes: int) -> None:
    """Fills the disk but for so much."""
    with (folder / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 1024)
        except OSError:
            filler.truncate(max(0, filler.tell() - free_bytes))


def leave_to_a_file(_: Path, free_bytes: int) -> None:
    """Bounds every file that is written from now on."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (free_bytes, resource.RLIM_INFINITY))


def main() -> None:
    """Tries until a voice is made; one that is not must leave everything as it was."""
    folder, limit = Path(sys.argv[1]), sys.argv[2]
    leave = leave_on_disk if limit == "disk" else leave_to_a_file
    voices = folder / "voices"
    store = open_store(voices)
    make(store, "narrator", b"old", label="Old", transcript="Old words.")
    before = files_in(voices)
    heard: list[str] = []
    for free_bytes in range(0, 65_536, 1024):
        leave(folder, free_bytes)
        try:
            make(store, "narrator", b"new" * 100, label="N" * 6000)
            break
        except (Internal, OSError) as error:
            heard.append(str(error))
        assert files_in(voices) == before
        assert seen(store) == OLD
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    sys.stdout.write(json.dumps(heard))


if __name__ == "__main__":
    main()
