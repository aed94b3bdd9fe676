"""The folder in which a fetch keeps what is neither a file nor a part of one."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NAME: Final = ".fetch"

_SCRATCH_PREFIX: Final = "scratch-"


class Staging:
    """`.fetch/`: archives and parts kept for a later try, and scratch that nobody needs again.

    Used only by who holds the folder's lock.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / NAME

    def path_of(self, name: str) -> Path:
        """Returns where something of this name is kept; makes the folder, not the file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / name

    @contextmanager
    def scratch(self) -> Generator[Path]:
        """Gives an empty folder, on the same disk as the files, for the length of a block."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX, dir=self.folder))
        try:
            yield path
        finally:
            # A client that outlives its own end may still write here; the next fetch sweeps.
            shutil.rmtree(path, ignore_errors=True)

    def sweep(self) -> None:
        """Removes the scratch that a killed fetch left."""
        for left in self.folder.glob(f"{_SCRATCH_PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)

    def clear(self) -> None:
        """Removes everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def sizes_below(folder: Path) -> list[int]:
    """Returns the size of each file below a folder in which another process is at work."""
    sizes: list[int] = []
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append(os.lstat(os.path.join(parent, name)).st_size)
            except FileNotFoundError:
                continue  # moved or removed since it was listed
    return sizes
