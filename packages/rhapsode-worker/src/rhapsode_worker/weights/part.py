"""A file that has not wholly arrived."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from rhapsode_worker.weights.durable import move_into_place, sha256_of


@dataclass(frozen=True)
class Origin:
    """Where the bytes of a part came from."""

    source: str
    """The URL of the request, or the source in words."""

    validator: str | None = None
    """What `If-Range` takes: a strong ETag or a date; None where the server gave neither."""


class Part:
    """`<name>.part`, and beside it `<name>.part.from`, which says what its bytes are of.

    A part without a note, or with one for another hash, counts as empty. The note is written
    before the first byte, so a kill at any moment leaves a part that can be resumed or none.
    """

    def __init__(self, target: Path, sha256: str, size_bytes: int) -> None:
        self.target = target
        self.sha256 = sha256
        self.size_bytes = size_bytes
        """Of the whole file."""
        self.path = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.from")

    def arrived(self) -> int:
        """Returns how many bytes are there to be resumed."""
        if self.origin() is None:
            return 0
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def missing(self) -> int:
        """Returns how many bytes are still to be written."""
        return max(0, self.size_bytes - self.arrived())

    def origin(self) -> Origin | None:
        """Returns what the note says, or None where it is missing, torn or of another file."""
        try:
            content: Any = json.loads(self._note.read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(content, dict):
            return None
        note = cast("dict[str, object]", content)
        source, validator = note.get("source"), note.get("validator")
        if note.get("sha256") != self.sha256 or not isinstance(source, str):
            return None
        return Origin(source, validator if isinstance(validator, str) else None)

    def begin(self, origin: Origin) -> None:
        """Starts from nothing."""
        self.path.unlink(missing_ok=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        note = {"sha256": self.sha256, **asdict(origin)}
        self._note.write_text(json.dumps(note), encoding="utf-8")

    def open(self) -> BinaryIO:
        """Opens it to append bytes."""
        return self.path.open("ab")

    def digest(self, after_piece: Callable[[int], None]) -> str:
        """Returns the SHA-256 of what is there; see `sha256_of`."""
        return sha256_of(self.path, after_piece)

    def discard(self) -> None:
        """Removes the part and its note."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def place(self) -> None:
        """Gives the file its name. Only for one whose hash is right."""
        move_into_place(self.path, self.target)
        self._note.unlink(missing_ok=True)
