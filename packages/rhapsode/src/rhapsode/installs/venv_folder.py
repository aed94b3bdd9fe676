"""The folder of the virtualenvs, and the file in it that says whose they are.

What no entry of a database points at is remains, which the next install removes. A second core with
a database of its own would take the engines of the first for such, so the folder belongs to one
database, and a file in it names that (design, "Installing").
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

import anyio
from rhapsode_contract import Conflict

OWNER_FILE: Final = ".rhapsode-owner"
"""First line: the identity of the database. Second: its path when it claimed the folder."""

_ANSWER_BYTES: Final = 8192


class VenvFolder:
    """`install.venvDir`, for one state database."""

    def __init__(self, path: Path, identity: str, database: Path) -> None:
        """Args:
        path: The folder; it need not exist.
        identity: What the database is known by, wherever it lies. One line.
        database: Where it lies, for people.
        """
        self._path = path
        self._identity = identity
        self._database = database

    async def claim(self) -> None:
        """Makes the folder, and writes down that it is this database's.

        Raises:
            Conflict: It is another database's. Nothing has been changed.
            OSError: It cannot be made, read or written to.
        """
        await anyio.to_thread.run_sync(self._claim)

    async def remove(self, path: Path) -> None:
        """Deletes what lies under a path of this folder, as `remove_venv` does."""
        await remove_venv(self._path, path)

    def _claim(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        owner = self._path / OWNER_FILE
        # A name of its own, moved into place only where nothing is: of two cores one wins.
        draft = owner.with_name(f"{OWNER_FILE}.{uuid4().hex}")
        try:
            draft.write_text(f"{self._identity}\n{self._database}\n", encoding="utf-8")
            with suppress(FileExistsError):
                os.link(draft, owner)
        finally:
            draft.unlink(missing_ok=True)
        self._check(owner)

    def _check(self, owner: Path) -> None:
        with owner.open("rb") as file:
            said = file.read(_ANSWER_BYTES).decode("utf-8", "replace").splitlines()
        if said[:1] == [self._identity]:
            return
        whose = said[1] if len(said) > 1 else "another database"
        raise Conflict(
            f"install.venvDir, {self._path}, holds the engines of {whose}, not of"
            f" {self._database}; choose another folder, or remove {owner} if that database is gone"
        )


async def remove_venv(folder: Path, path: Path) -> None:
    """Deletes what lies in a folder under a path; does nothing where nothing does.

    A link is removed and what it leads to stays, and so it is with every link inside.

    Args:
        folder: `install.venvDir`.
        path: A direct child of it.

    Raises:
        ValueError: The path is no direct child of the folder.
        OSError: Something could not be deleted.
    """
    is_child = path.name not in {"", ".", "..", OWNER_FILE} and (
        path.parent == folder or _is_same(path.parent, folder)
    )
    if not is_child:
        raise ValueError(f"{path} is no virtualenv of {folder}; it is left alone")
    # Gigabytes, so not on the loop. Waited for even when cancelled: nothing may be deleted later
    # that was built meanwhile.
    await anyio.to_thread.run_sync(_remove, path)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
