"""Containers with nothing in them: whole to whoever walks through them, silent to whoever listens.

A worker that conform is tried on needs bodies of the right form and length, not an encoder.
"""

import struct
from typing import Final

from .tones import RATE_HZ

_MP3_FRAME: Final = bytes.fromhex("ffe318c4") + bytes(68)
"""MPEG 2.5, layer III, 8 kbit/s, 8 kHz, mono: 576 samples in 72 bytes."""
_MP3_TAG: Final = _MP3_FRAME[:13] + b"Info" + _MP3_FRAME[17:]
"""A frame that tells of the others, as encoders write it in front of them."""
_MP3_PADDING: Final = 576 + 1088
"""What LAME adds to the samples, before and behind."""
_FLAC_BLOCK: Final = 4096


def wav(pcm: bytes, *, riff_size: int | None = None, data_size: int | None = None) -> bytes:
    """Returns a WAV file, its sizes right unless they are given."""
    data = len(pcm) if data_size is None else data_size
    riff = 36 + len(pcm) if riff_size is None else riff_size
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE_HZ, RATE_HZ * 2, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", riff, b"WAVE")
        + form
        + b"data"
        + struct.pack("<I", data)
        + pcm
    )


def mp3(pcm: bytes) -> bytes:
    """Returns frames of the length of `pcm` and of what an encoder adds to it."""
    return _MP3_TAG + _MP3_FRAME * -(-(len(pcm) // 2 + _MP3_PADDING) // 576)


def opus(pcm: bytes) -> bytes:
    """Returns pages whose last one says how long `pcm` is."""
    head = b"OpusHead" + struct.pack("<BBHIHB", 1, 1, 0, RATE_HZ, 0, 0)
    tags = b"OpusTags" + struct.pack("<I", 0) + struct.pack("<I", 0)
    samples = len(pcm) // 2 * 48_000 // RATE_HZ
    audio = bytes(200)
    return _page(2, 0, 0, head) + _page(0, 0, 1, tags) + _page(4, samples, 2, audio)


def _page(flags: int, granule: int, number: int, payload: bytes) -> bytes:
    head = b"OggS\0" + struct.pack("<BqII", flags, granule, 1, number)
    page = head + b"\0\0\0\0" + bytes([1, len(payload)]) + payload
    return head + struct.pack("<I", _checksum(page, bits=32, polynomial=0x04C11DB7)) + page[26:]


def flac_of(pcm: bytes) -> bytes:
    """Returns frames of silence, as long as `pcm`."""
    samples = len(pcm) // 2
    info = struct.pack(">HH", _FLAC_BLOCK, _FLAC_BLOCK) + bytes(6)
    info += (RATE_HZ << 44 | 15 << 36 | samples).to_bytes(8, "big") + bytes(16)
    body = b"fLaC" + bytes([0x80]) + len(info).to_bytes(3, "big") + info
    for number, at in enumerate(range(0, samples, _FLAC_BLOCK)):
        length = min(_FLAC_BLOCK, samples - at)
        head = bytes([0xFF, 0xF8, 0x74, 0x08, number]) + (length - 1).to_bytes(2, "big")
        body += head + bytes([_checksum(head, bits=8, polynomial=0x07)]) + bytes(240)
    return body


def _checksum(data: bytes, *, bits: int, polynomial: int) -> int:
    value = 0
    for byte in data:
        value ^= byte << bits - 8
        for _ in range(8):
            is_high = value >> bits - 1
            value = (value << 1 ^ (polynomial if is_high else 0)) & (1 << bits) - 1
    return value


MAKERS: Final = {"mp3": mp3, "opus": opus, "flac": flac_of}
"""By the name of the format."""
