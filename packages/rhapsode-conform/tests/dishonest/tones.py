"""What the raw worker sounds like: one tone a voice, made fast."""

from array import array
from functools import lru_cache
from itertools import pairwise
from math import pi, sin
from typing import Final

RATE_HZ: Final = 8000
MS_PER_CHARACTER: Final = 60
MS_PER_CUE: Final = 300
CUE_HERTZ: Final = 3000


def tone(hertz: int, amplitude: float, milliseconds: float, phase: int = 0) -> bytes:
    """Returns a sine as little-endian 16-bit samples, mono."""
    second = _second(hertz, round(amplitude * 32767))
    begin = 2 * (phase % RATE_HZ)
    size = 2 * round(milliseconds * RATE_HZ / 1000)
    turned = second[begin:] + second[:begin]
    return (turned * (size // len(turned) + 1))[:size]


def hertz_of(wav: bytes) -> int:
    """Returns how high a WAV file of ours sounds, by how often it rises through nothing."""
    rate_hz = int.from_bytes(wav[24:28], "little")
    samples = array("h", wav[44 : len(wav) // 2 * 2])
    rises = sum(a < 0 <= b for a, b in pairwise(samples))
    return round(rises * rate_hz / max(1, len(samples)))


def seconds_of(wav: bytes) -> float:
    """Returns how long a WAV file of ours sounds."""
    return (len(wav) - 44) / int.from_bytes(wav[28:32], "little")


@lru_cache(maxsize=64)
def _second(hertz: int, peak: int) -> bytes:
    samples = array("h", [round(peak * sin(2 * pi * hertz * i / RATE_HZ)) for i in range(RATE_HZ)])
    return samples.tobytes()
