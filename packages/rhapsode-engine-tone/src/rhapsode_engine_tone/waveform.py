"""Tones as samples, fast without an array library: a second of each is made once and copied.

Frequencies are rounded to whole hertz, so that a second holds whole periods and can be laid end to
end; the same holds for the swelling of a tremolo.
"""

import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin
from typing import Final, TypeAlias

FULL_SCALE: Final = 32767

Samples: TypeAlias = "array[int]"
"""Signed 16-bit, one channel. Quoted: `array` takes no parameter when the code runs before 3.12."""

_EDGE_SECONDS: Final = 0.005
_PIECES_PER_SECOND: Final = 10


@dataclass(frozen=True)
class Tone:
    """A sine, perhaps swelling."""

    hertz: int

    amplitude: float
    """Peak, where 1.0 is full scale."""

    tremolo_hertz: int = 0

    tremolo_depth: float = 0.0
    """How far each swell falls: 0 not at all, 1 to silence."""


@lru_cache(maxsize=64)
def second_of(tone: Tone, sample_rate: int) -> Samples:
    """Returns one second of `tone`, which continues seamlessly in itself. Never change it."""
    step = 2 * pi * tone.hertz / sample_rate
    peak = FULL_SCALE * tone.amplitude
    if not tone.tremolo_depth:
        return array("h", [round(peak * sin(step * i)) for i in range(sample_rate)])
    swell = 2 * pi * tone.tremolo_hertz / sample_rate
    half = tone.tremolo_depth / 2
    return array(
        "h",
        [
            round(peak * (1 - half + half * cos(swell * i)) * sin(step * i))
            for i in range(sample_rate)
        ],
    )


def burst(tone: Tone, frames: int, sample_rate: int, start: int = 0) -> Samples:
    """Returns `frames` samples of `tone` from `start` on, with smooth edges."""
    second = second_of(tone, sample_rate)
    start %= sample_rate
    samples = array("h", second[start : start + frames])
    while len(samples) < frames:
        samples.extend(second[: frames - len(samples)])
    edge = min(int(_EDGE_SECONDS * sample_rate), frames // 2)
    for i, factor in enumerate(_rise(edge)):
        samples[i] = round(samples[i] * factor)
        samples[-1 - i] = round(samples[-1 - i] * factor)
    return samples


def silence(frames: int) -> Samples:
    """Returns `frames` samples of nothing."""
    return array("h", bytes(2 * frames))


def pieces_of(runs: Iterable[Samples], *, sample_rate: int, channels: int = 1) -> Iterator[bytes]:
    """Yields mono `runs` as little-endian pieces of a tenth of a second, the last one shorter.

    With two channels the second one sounds at half the amplitude of the first.
    """
    frames = sample_rate // _PIECES_PER_SECOND
    held = array("h")
    for run in runs:
        at = 0
        while at < len(run):
            taken = run[at : at + frames - len(held)]
            held.extend(taken)
            at += len(taken)
            if len(held) == frames:
                yield _packed(held, channels)
                held = array("h")
    if held:
        yield _packed(held, channels)


@lru_cache(maxsize=16)
def _rise(frames: int) -> list[float]:
    """Half a cosine from silence to full."""
    return [(1 - cos(pi * i / frames)) / 2 for i in range(frames)]


def _packed(mono: Samples, channels: int) -> bytes:
    samples = mono
    if channels == 2:
        samples = array("h", bytes(4 * len(mono)))
        samples[0::2] = mono
        samples[1::2] = array("h", [value // 2 for value in mono])
    if sys.byteorder == "big":
        samples = array("h", samples)
        samples.byteswap()
    return samples.tobytes()
