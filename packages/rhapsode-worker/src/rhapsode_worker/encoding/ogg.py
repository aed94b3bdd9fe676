"""The serial number of an Ogg stream, made a function of what is in the stream. Child only.

libsndfile draws it by lot, from the clock, so that the same audio would be other bytes each time.
A page (RFC 3533 § 6) is a head of 27 bytes, a table of the lengths of its segments, and those; its
checksum covers all of it, and is made anew with the serial number.
"""

import zlib
from struct import Struct
from typing import Final

_CAPTURE_PATTERN: Final = b"OggS"
_HEAD_BYTES: Final = 27
_SERIAL: Final = slice(14, 18)
_CHECKSUM: Final = slice(22, 26)
_SEGMENT_COUNT: Final = 26
_HEADER_PAGES: Final = 2
"""Opus begins with a page of its own for each of its two headers (RFC 7845 § 3)."""

_UINT32: Final = Struct("<I")
_MIRRORED: Final = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class NotOgg(Exception):
    """What libsndfile wrote is not what this module knows; a bug in one of the two."""


class SteadySerial:
    """Renumbers one Ogg Opus stream as it is made.

    The number is the checksum of the first page of audio: two answers that somebody puts one
    behind the other into one file, as Ogg allows where their numbers differ, hardly share one.
    """

    def __init__(self) -> None:
        self._unread = bytearray()
        self._pages: list[bytearray] = []  # read, and held until the number is known
        self._serial: bytes | None = None

    @property
    def holds_back(self) -> bool:
        """Whether some of what came has not been returned: at the end of a stream nothing has."""
        return bool(self._unread or self._pages)

    def renumber(self, ogg: bytes) -> bytes:
        """Takes the next bytes and returns all that is whole by now: nothing before the first
        page of audio, whole pages after it.

        Raises:
            NotOgg: No page begins where one should.
        """
        self._unread += ogg
        while (length := _page_length(self._unread)) is not None:
            self._pages.append(self._unread[:length])
            del self._unread[:length]
        if self._serial is None:
            if len(self._pages) <= _HEADER_PAGES:
                return b""
            self._serial = _UINT32.pack(checksum(_payload(self._pages[_HEADER_PAGES])))
        renumbered = b"".join([_with_serial(page, self._serial) for page in self._pages])
        self._pages.clear()
        return renumbered


def checksum(data: bytes) -> int:
    """Returns Ogg's CRC-32: zlib's polynomial, the bits the other way round, no inversion."""
    mirrored = zlib.crc32(data.translate(_MIRRORED), 0xFFFF_FFFF) ^ 0xFFFF_FFFF
    return int.from_bytes(mirrored.to_bytes(4, "little").translate(_MIRRORED), "big")


def _page_length(data: bytearray) -> int | None:
    """Returns how long the page at the beginning of `data` is; None where it is not whole."""
    if not data.startswith(_CAPTURE_PATTERN[: len(data)]):
        raise NotOgg(f"a page begins with {bytes(data[:4])!r}")
    if len(data) < _HEAD_BYTES:
        return None
    table_end = _HEAD_BYTES + data[_SEGMENT_COUNT]
    length = table_end + sum(data[_HEAD_BYTES:table_end])
    return length if len(data) >= max(table_end, length) else None


def _payload(page: bytearray) -> bytes:
    return bytes(page[_HEAD_BYTES + page[_SEGMENT_COUNT] :])


def _with_serial(page: bytearray, serial: bytes) -> bytes:
    page[_SERIAL] = serial
    page[_CHECKSUM] = bytes(4)  # as it counts towards itself
    page[_CHECKSUM] = _UINT32.pack(checksum(bytes(page)))
    return bytes(page)
