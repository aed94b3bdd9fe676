"""Ogg Opus: pages with their checksums, the two headers, the end."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rhapsode_conform.containers.container import Container, check

_RATE_HZ: Final = 48_000
"""Opus counts its samples at this rate whatever went in."""
_LAST: Final = 4


@dataclass(frozen=True)
class _Page:
    flags: int
    granule: int
    payload: bytes


def read_ogg_opus(body: bytes) -> Container:
    """Reads every page.

    Raises:
        NotAudio: A page is broken, a header is missing, or the stream does not end.
    """
    pages = list(_pages(body))
    check(len(pages) >= 3, f"an Ogg of {len(pages)} pages; two headers and audio are needed")
    head = pages[0].payload
    check(head[:8] == b"OpusHead" and len(head) >= 19, f"no OpusHead, but {head[:8]!r}")
    check(pages[1].payload[:8] == b"OpusTags", f"no OpusTags, but {pages[1].payload[:8]!r}")
    check(bool(pages[-1].flags & _LAST), "an Ogg whose last page does not say so")
    pre_skip = struct.unpack_from("<H", head, 10)[0]
    return Container((pages[-1].granule - pre_skip) * 1000 / _RATE_HZ)


def _pages(body: bytes) -> Iterator[_Page]:
    at = 0
    while at < len(body):
        check(body[at : at + 5] == b"OggS\0", f"no Ogg page at byte {at}: {body[at : at + 4]!r}")
        check(at + 27 <= len(body), "an Ogg that ends within a page's head")
        flags, granule = struct.unpack_from("<Bq", body, at + 5)
        told = struct.unpack_from("<I", body, at + 22)[0]
        table = body[at + 27 : at + 27 + body[at + 26]]
        begins = at + 27 + body[at + 26]
        ends = begins + sum(table)
        check(ends <= len(body), "an Ogg that ends within a page")
        page = body[at : at + 22] + b"\0\0\0\0" + body[at + 26 : ends]
        check(checksum(page) == told, f"an Ogg page at byte {at} whose checksum is wrong")
        yield _Page(flags, granule, body[begins:ends])
        at = ends


def checksum(page: bytes) -> int:
    """Returns the CRC-32 of a page whose own checksum is zero, as Ogg reckons it."""
    table = _table()
    value = 0
    for byte in page:
        value = (value << 8 & 0xFFFFFFFF) ^ table[value >> 24 ^ byte]
    return value


@lru_cache(maxsize=1)
def _table() -> tuple[int, ...]:
    return tuple(_shifted(byte << 24) for byte in range(256))


def _shifted(value: int) -> int:
    for _ in range(8):
        value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
    return value
