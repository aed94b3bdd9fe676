"""The two places where an engine's virtualenv may lie (contract § 10, "Reinstalling")."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class Slots:
    """The slots of every engine, in one folder."""

    def __init__(self, venv_dir: Path) -> None:
        """Args:
        venv_dir: `install.venvDir`.
        """
        self._venv_dir = venv_dir

    def of(self, engine: str) -> tuple[Path, Path]:
        """Returns an engine's slots, the one of an install first."""
        return self._venv_dir / engine, self._venv_dir / f"{engine}.alt"

    def free(self, engine: str, venv: Path | None) -> Path:
        """Returns the slot to build in while an engine runs from another place.

        Args:
            engine: Whose slot it is.
            venv: Where it runs from; None for nowhere.
        """
        first, second = self.of(engine)
        return second if venv is not None and is_same(venv, first) else first

    def removable(self, engine: str, venvs: Iterable[Path]) -> list[Path]:
        """Returns what may be deleted with an engine: its slots, and of its virtualenvs those in
        this folder.

        Args:
            engine: Whose they are.
            venvs: Where it runs from, or did.
        """
        return [*self.of(engine), *(venv for venv in venvs if self.contains(venv))]

    def contains(self, path: Path) -> bool:
        """Whether something lies in the folder itself; a link counts by where it lies."""
        folder = os.path.realpath(path.parent)
        return path.name not in {"", "..", "."} and is_same(Path(folder), self._venv_dir)


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one place, whatever links and spellings lie between."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    with suppress(OSError):
        return one.samefile(other)
    return False
