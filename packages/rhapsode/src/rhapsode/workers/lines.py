"""Lines out of a stream of bytes, however long and however cut."""

from typing import Final

LINE_LIMIT_BYTES: Final = 64 * 1024
"""A longer line is given in pieces of this size: a worker may print a megabyte without a break."""


class Lines:
    """Cuts what arrives into lines, holding back at most one unfinished one."""

    def __init__(self, limit_bytes: int = LINE_LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """Returns the lines that `piece` completes, without their ends; blank ones are left out."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        lines = [part for line in whole for part in self._cut(line)]
        *long, self._rest = self._cut(self._rest) or [b""]
        return [line for line in (*lines, *long) if line.strip()]

    def finish(self) -> list[bytes]:
        """Returns what is left once the stream has ended."""
        rest, self._rest = self._rest, b""
        return [rest] if rest.strip() else []

    def _cut(self, line: bytes) -> list[bytes]:
        return [line[at : at + self._limit] for at in range(0, len(line), self._limit)]
