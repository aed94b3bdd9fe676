"""Which files of a folder have been checked, so that a start need not read gigabytes."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

NAME: Final = ".verified.json"


class Stamp:
    """The SHA-256 of each file that was right when it was last read whole, by name.

    Written only by who holds the folder's lock; read by anyone.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def read(self) -> Mapping[str, str]:
        """Returns the hashes; none where the stamp is missing or makes no sense."""
        try:
            content: Any = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(content, dict):
            return {}
        pairs = cast("dict[str, object]", content)
        return {name: sha256 for name, sha256 in pairs.items() if isinstance(sha256, str)}

    def mark(self, name: str, sha256: str) -> None:
        """Notes that a file is right."""
        self._write({**self.read(), name: sha256})

    def unmark(self, name: str) -> None:
        """Notes that a file is missing or wrong."""
        if name in (marked := self.read()):
            self._write({other: sha256 for other, sha256 in marked.items() if other != name})

    def _write(self, content: Mapping[str, str]) -> None:
        if content == self.read():
            return
        fresh = self._path.with_name(f"{NAME}.part")
        fresh.write_text(json.dumps(dict(content), indent=1, sort_keys=True), encoding="utf-8")
        # Not synced: a stamp that a power cut takes costs one reading of the files.
        os.replace(fresh, self._path)
