"""MP3: frames of MPEG layer III, one after another to the end."""

from typing import Final

from rhapsode_conform.containers.container import Container, check

_KBITS: Final = {
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Bit rates by whether it is MPEG 1."""
_RATES_HZ: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
"""Sample rates by the version's two bits."""


def read_mp3(body: bytes) -> Container:
    """Walks every frame.

    Raises:
        NotAudio: A frame does not follow where the one before ends.
    """
    at = _after_id3(body)
    frames = 0
    milliseconds = frame_ms = 0.0
    while at < len(body):
        if body[at : at + 3] == b"TAG" and len(body) - at == 128:
            break  # ID3v1, at the end
        size, frame_ms = _frame(body, at)
        check(at + size <= len(body), f"an MP3 that ends within frame {frames + 1}")
        at += size
        frames += 1
        milliseconds += frame_ms
    check(frames > 0, "an MP3 without a frame")
    return Container(milliseconds, frame_ms=frame_ms)


def _after_id3(body: bytes) -> int:
    if body[:3] != b"ID3" or len(body) < 10:
        return 0
    size = 0
    for byte in body[6:10]:
        size = size << 7 | byte & 0x7F
    return 10 + size


def _frame(body: bytes, at: int) -> tuple[int, float]:
    """Returns the size of the frame at `at` and how long it sounds, in milliseconds."""
    head = body[at : at + 4]
    check(
        len(head) == 4 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0,
        f"no MP3 frame at byte {at}: {head.hex()}",
    )
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    rate_bits, kbit_bits = head[2] >> 2 & 3, head[2] >> 4
    is_sound = version != 1 and layer == 1 and rate_bits != 3 and 0 < kbit_bits < 15
    check(is_sound, f"a frame at byte {at} that is not of layer III: {head.hex()}")
    rate_hz = _RATES_HZ[version][rate_bits]
    kbits = _KBITS[version == 3][kbit_bits]
    samples = 1152 if version == 3 else 576
    size = samples // 8 * kbits * 1000 // rate_hz + (head[2] >> 1 & 1)
    return size, samples * 1000 / rate_hz
