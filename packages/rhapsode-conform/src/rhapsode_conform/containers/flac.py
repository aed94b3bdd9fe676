"""FLAC: the stream's information, then frames that each say their own number."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rhapsode_conform.containers.container import Container, check

_BLOCK_SIZES: Final = {1: 192} | {
    code: 576 << code - 2 if code < 6 else 256 << code - 8 for code in (2, 3, 4, 5, *range(8, 16))
}
"""Samples of a frame by the four bits that say it; 6 and 7 stand for a number that follows."""


@dataclass(frozen=True)
class _Frame:
    number: int
    """Its place among the frames, or the place of its first sample where sizes vary."""
    samples: int
    is_varying: bool


def read_flac(body: bytes) -> Container:
    """Reads the metadata, and the head of every frame.

    Raises:
        NotAudio: It is none, or a frame is missing.
    """
    check(body[:4] == b"fLaC", f"a FLAC begins fLaC, not {body[:4]!r}")
    at = 4
    rate_hz = 0
    is_last = False
    while not is_last:
        check(at + 4 <= len(body), "a FLAC that ends within its metadata")
        is_last = body[at] >= 0x80
        kind, size = body[at] & 0x7F, int.from_bytes(body[at + 1 : at + 4], "big")
        if kind == 0:
            check(size == 34 and at + 38 <= len(body), "a FLAC with a wrong STREAMINFO")
            rate_hz = int.from_bytes(body[at + 14 : at + 17], "big") >> 4
        at += 4 + size
    check(rate_hz > 0, "a FLAC without a STREAMINFO")
    return Container(_samples_of_frames(body, at) * 1000 / rate_hz)


def _samples_of_frames(body: bytes, at: int) -> int:
    """Returns the samples of all frames; a frame ends where the head of the next one stands."""
    samples = frames = 0
    while at < len(body):
        frame = _frame(body, at)
        wanted = samples if frame is not None and frame.is_varying else frames
        if frame is not None and frame.number == wanted:
            samples += frame.samples
            frames += 1
        elif frames == 0:
            break
        at = body.find(b"\xff", at + 1)
        if at < 0:
            break
    check(frames > 0, "a FLAC without a frame")
    return samples


def _frame(body: bytes, at: int) -> _Frame | None:
    """Returns the head of a frame at `at`, or None where there is none."""
    head = body[at : at + 16]
    if len(head) < 6 or head[0] != 0xFF or head[1] & 0xFE != 0xF8:
        return None
    number, place = _number(head)
    code = head[2] >> 4
    samples = _BLOCK_SIZES.get(code, 0)
    if code in (6, 7):
        width = code - 5
        samples = int.from_bytes(head[place : place + width], "big") + 1
        place += width
    place += {12: 1, 13: 2, 14: 2}.get(head[2] & 15, 0)
    if not samples or place >= len(head) or checksum(head[:place]) != head[place]:
        return None
    return _Frame(number, samples, bool(head[1] & 1))


def _number(head: bytes) -> tuple[int, int]:
    """Returns the number from byte 4 on, coded as UTF-8 codes one, and the place after it."""
    first = head[4]
    if first < 0x80:
        return first, 5
    length = 8 - (first ^ 0xFF).bit_length()
    number = first & (0x7F >> length)
    for byte in head[5 : 4 + length]:
        number = number << 6 | byte & 0x3F
    return number, 4 + length


def checksum(head: bytes) -> int:
    """Returns the CRC-8 of a frame's head without its last byte, as FLAC reckons it."""
    table = _table()
    value = 0
    for byte in head:
        value = table[value ^ byte]
    return value


@lru_cache(maxsize=1)
def _table() -> tuple[int, ...]:
    return tuple(_shifted(byte) for byte in range(256))


def _shifted(value: int) -> int:
    for _ in range(8):
        value = (value << 1 ^ 0x07 if value & 0x80 else value << 1) & 0xFF
    return value
