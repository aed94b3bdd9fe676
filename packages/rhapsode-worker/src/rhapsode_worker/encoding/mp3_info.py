"""The frame at the head of an MP3 file that says how long it is.

With it a player knows the exact length, and drops the silence that the codec adds at both ends. It
must be written when the last frame is known, so only a buffered answer has one.
"""

import struct
from typing import Final

_ENCODER_DELAY: Final = 576
"""Samples of silence that LAME puts ahead, whatever its settings."""

_BITRATES_KBPS: Final = {
    1: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Of layer III, by MPEG version; 2.5 is as 2."""

_RATES_HZ: Final = {
    0b11: (44_100, 48_000, 32_000),
    0b10: (22_050, 24_000, 16_000),
    0b00: (11_025, 12_000, 8_000),
}
"""By the version bits of a frame header: MPEG-1, MPEG-2, MPEG-2.5."""

_MPEG_1: Final = 0b11
_MONO: Final = 0b11
_HEADER_BYTES: Final = 4
_HAS_FRAMES_AND_BYTES: Final = 0b11
_CONSTANT_BITRATE: Final = 1


def with_info(audio: bytes, samples: int) -> bytes:
    """Returns `audio` behind a frame that says its length.

    Args:
        audio: Whole layer III frames of one constant bitrate, as LAME makes them.
        samples: How many went in, at the codec's rate, one channel's.

    Raises:
        ValueError: `audio` is something else.
    """
    frames = _count_frames(audio)
    padding = max(frames * _samples_per_frame(audio) - _ENCODER_DELAY - samples, 0)
    return _info_frame(audio, frames, padding) + audio


def _count_frames(audio: bytes) -> int:
    frames = at = 0
    while at + _HEADER_BYTES <= len(audio):
        at += _frame_bytes(audio[at : at + _HEADER_BYTES])
        frames += 1
    if at != len(audio):
        raise ValueError("the last MP3 frame is not whole")
    return frames


def _frame_bytes(header: bytes) -> int:
    """Returns the length of the frame that `header` begins."""
    if header[0] != 0xFF or header[1] & 0b1110_0110 != 0b1110_0010:
        raise ValueError(f"no MP3 frame begins with {header.hex()}")
    version = header[1] >> 3 & 0b11
    kbps = _BITRATES_KBPS[1 if version == _MPEG_1 else 2][header[2] >> 4]
    rate_hz = _RATES_HZ[version][header[2] >> 2 & 0b11]
    is_padded = header[2] >> 1 & 1
    return _samples_per_frame(header) // 8 * kbps * 1000 // rate_hz + is_padded


def _samples_per_frame(header: bytes) -> int:
    return 1152 if header[1] >> 3 & 0b11 == _MPEG_1 else 576


def _info_frame(audio: bytes, frames: int, padding: int) -> bytes:
    """Returns a silent frame whose side information and data are an Info tag."""
    # Bit 0 of the second byte set: no checksum. Padding bit clear: the plain length.
    header = bytes((audio[0], audio[1] | 1, audio[2] & 0b1111_1101, audio[3]))
    is_mono = header[3] >> 6 == _MONO
    is_mpeg_1 = header[1] >> 3 & 0b11 == _MPEG_1
    side_info_bytes = (17 if is_mono else 32) if is_mpeg_1 else (9 if is_mono else 17)
    size = _frame_bytes(header)
    tag = header + bytes(side_info_bytes)
    tag += struct.pack(">4sIII", b"Info", _HAS_FRAMES_AND_BYTES, frames, size + len(audio))
    tag += struct.pack(
        ">9sBB8sBB3sBBHI",
        b"LAME3.100",
        _CONSTANT_BITRATE,
        0,  # low-pass: not said
        bytes(8),  # replay gain: not said
        0,  # encoding flags
        0,  # bitrate: the frame header has it
        (_ENCODER_DELAY << 12 | min(padding, 0xFFF)).to_bytes(3, "big"),
        0,
        0,
        0,
        size + len(audio),
    )
    tag += bytes(2)  # checksum of the audio, which nobody reads
    tag += struct.pack(">H", _crc16(tag))
    return tag.ljust(size, b"\0")


def _crc16(data: bytes) -> int:
    """CRC-16/ARC, which guards the tag."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc
