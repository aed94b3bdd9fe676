"""Packages that are installed from a folder of them, `install.sourceDir`, and what they need."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rhapsode_contract import Internal

LOCK_FILE: Final = "constraints.txt"

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class Sources:
    """A package's folder, and what else of the same folder goes with it."""

    folders: tuple[Path, ...]
    """The package's own first, then those of ours that it needs, directly or not."""

    lock: Path | None
    """Everything it needs from elsewhere, with hashes; None where the package has no such file."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The names of the distributions, which their folders have too."""
        return tuple(folder.name for folder in self.folders)


def find_sources(package: str, source_dir: Path | None) -> Sources | None:
    """Returns where a package is installed from; None where it is not in the folder.

    Raises:
        Internal: A package's `pyproject.toml` cannot be read.
    """
    if source_dir is None or not (source_dir / package).is_dir():
        return None
    found: dict[str, Path] = {}
    wanted = [package]
    while wanted:
        name = wanted.pop(0)
        folder = source_dir / name
        if name in found or not (folder / "pyproject.toml").is_file():
            continue
        found[name] = folder
        wanted += _needs(folder / "pyproject.toml")
    lock = source_dir / package / LOCK_FILE
    # A folder without metadata is given all the same: who installs it says what is wrong with it.
    folders = tuple(found.values()) or (source_dir / package,)
    return Sources(folders, lock if lock.is_file() else None)


def _needs(metadata: Path) -> list[str]:
    """Returns the names of what a package depends on, as it spells them."""
    try:
        document: dict[str, Any] = tomllib.loads(metadata.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Internal(f"{metadata} cannot be read: {error}") from error
    asked: list[str] = document.get("project", {}).get("dependencies", [])
    return [found.group() for need in asked if (found := _NAME.match(need))]
