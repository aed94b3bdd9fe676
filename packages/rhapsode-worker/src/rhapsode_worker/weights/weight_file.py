"""A file that an engine needs, as its adapter declares it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rhapsode_worker.weights.durable import sha256_of
from rhapsode_worker.weights.source import Source


@dataclass(frozen=True)
class WeightFile:
    """One file of an engine's weights.

    Raises:
        ValueError: The declaration makes no sense.
    """

    name: str
    """Path in the engine's folder, relative, with `/`; no part of it begins with a dot."""

    sha256: str
    """64 hexadecimal digits, lower case."""

    size_bytes: int

    sources: Sequence[Source]
    """Tried in this order; at least one."""

    def __post_init__(self) -> None:
        parts = PurePosixPath(self.name).parts
        if (
            not parts
            or "/".join(parts) != self.name
            or any(part.startswith((".", "/")) or "\\" in part for part in parts)
            or self.name.endswith((".part", ".part.from"))
        ):
            raise ValueError(f"{self.name!r} is no name of a file in the engine's folder")
        if not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise ValueError(f"{self.name}: {self.sha256!r} is no SHA-256 in lower case")
        if self.size_bytes < 1:
            raise ValueError(f"{self.name}: a size of {self.size_bytes} bytes")
        if not self.sources:
            raise ValueError(f"{self.name}: there is no source")

    def is_at(self, path: Path, after_piece: Callable[[int], None]) -> bool:
        """Reads what is at a path and says whether it is this file.

        Args:
            path: Where it may be. What cannot be read is not it.
            after_piece: Called with the bytes read so far; may raise to give up.
        """
        try:
            if path.stat().st_size != self.size_bytes:
                return False
            return sha256_of(path, after_piece) == self.sha256
        except OSError:
            return False
