"""Which files of a folder have been checked, so that a start need not read gigabytes."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

NAME: Final = ".verified.json"

_SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True)
class Mark:
    """A file as it was when it was last read whole and found right."""

    sha256: str

    modified_ns: int
    """When it was last written, by the file system's word, in nanoseconds since 1970."""

    def fits(self, modified_ns: int) -> bool:
        """Says whether a file last written at that time is still the one that was read."""
        # An archive and a layer of an image keep whole seconds and no fraction.
        whole_seconds_ns = self.modified_ns - self.modified_ns % _SECOND_NS
        return modified_ns in {self.modified_ns, whole_seconds_ns}


class Stamp:
    """The files that were right when they were last read whole, each with its hash and its time.

    Written only by who holds the folder's lock; read by anyone.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / NAME

    def read(self) -> Mapping[str, Mark]:
        """Returns the marks by name; none where the stamp is missing or makes no sense."""
        try:
            content: Any = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(content, dict):
            return {}
        pairs = cast("dict[str, object]", content)
        return {name: mark for name, said in pairs.items() if (mark := _mark_of(said)) is not None}

    def mark(self, name: str, sha256: str) -> None:
        """Notes that a file is right as it lies there now.

        Raises:
            OSError: It cannot be written.
        """
        modified_ns = (self._folder / name).stat().st_mtime_ns
        self._write({**self.read(), name: Mark(sha256, modified_ns)})

    def unmark(self, name: str) -> None:
        """Notes that a file is missing or wrong.

        Raises:
            OSError: It cannot be written.
        """
        if name in (marked := self.read()):
            self._write({other: mark for other, mark in marked.items() if other != name})

    def _write(self, content: Mapping[str, Mark]) -> None:
        if content == self.read():
            return
        fresh = self._path.with_name(f"{NAME}.part")
        plain = {name: asdict(mark) for name, mark in content.items()}
        try:
            fresh.write_text(json.dumps(plain, indent=1, sort_keys=True), encoding="utf-8")
            # Not synced: a stamp that a power cut takes costs one reading of the files.
            os.replace(fresh, self._path)
        except OSError:
            # On a full disk even an empty file is one that somebody has to clear away.
            fresh.unlink(missing_ok=True)
            raise


def _mark_of(said: object) -> Mark | None:
    if not isinstance(said, dict):
        return None
    fields = cast("dict[str, object]", said)
    sha256, modified_ns = fields.get("sha256"), fields.get("modified_ns")
    if not isinstance(sha256, str) or not isinstance(modified_ns, int):
        return None
    return Mark(sha256, modified_ns)
