"""Samples, and how different two recordings are.

In plain Python, which is slow: a comparison looks at a few windows, which is enough to tell a
changed reading from an unchanged one.
"""

import sys
from array import array
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Final, TypeAlias

from rhapsode_conform.fourier import energies

Samples: TypeAlias = "array[int]"
"""Signed 16-bit. Quoted: `array` takes no parameter when the code runs before 3.12."""

_WINDOW: Final = 512
_WINDOWS: Final = 12
DIFFERENT_MS: Final = 20
"""Recordings whose lengths are further apart than this are different."""
DIFFERENT_SHARE: Final = 0.02
"""And so are those that differ in more than this share of the energy of all their bins."""


@dataclass(frozen=True)
class Sound:
    """A recording."""

    pcm: bytes
    """Little-endian 16-bit samples, channels interleaved."""

    rate_hz: int

    channels: int

    @property
    def duration_ms(self) -> float:
        """How long it sounds."""
        return len(self.pcm) / (2 * self.channels) * 1000 / self.rate_hz

    @property
    def is_silent(self) -> bool:
        """Whether every sample is zero."""
        return not any(self.pcm)

    def mono(self) -> Samples:
        """Returns the samples of the first channel."""
        return self.channel(0)

    def channel(self, number: int) -> Samples:
        """Returns the samples of one channel, counted from 0."""
        samples = array("h", self.pcm[: len(self.pcm) // 2 * 2])
        if sys.byteorder == "big":
            samples.byteswap()
        return samples[number :: self.channels]


def is_different(one: Sound, other: Sound) -> bool:
    """Whether a listener could tell the two apart, by their lengths or their spectra.

    What sounds the same in another order, such as two voices that change places, is the same here.
    """
    return difference(one, other) > 1


def difference(one: Sound, other: Sound) -> float:
    """Returns how far apart two recordings are: 0 is the same, above 1 they can be told apart."""
    if one.pcm == other.pcm:
        return 0
    if one.channels != other.channels:
        return inf
    apart_ms = abs(one.duration_ms - other.duration_ms)
    if apart_ms > DIFFERENT_MS:
        return apart_ms / DIFFERENT_MS
    a, b = _spectrum(one), _spectrum(other)
    most = max(sum(a), sum(b))
    share = sum(abs(x - y) for x, y in zip(a, b, strict=True)) / most if most else 0
    return share / DIFFERENT_SHARE


@lru_cache(maxsize=64)
def _spectrum(sound: Sound) -> tuple[float, ...]:
    """Returns the energy at each frequency of each channel, over windows spread across the
    recording.

    Bin by bin, since two low voices lie in what would be one band of any width that hides them.
    """
    return tuple(
        energy for number in range(sound.channels) for energy in _spectrum_of(sound.channel(number))
    )


def _spectrum_of(samples: Samples) -> list[float]:
    energy = [0.0] * (_WINDOW // 2)
    padded = samples if len(samples) >= _WINDOW else samples + array("h", bytes(2 * _WINDOW))
    step = max(1, (len(padded) - _WINDOW) // _WINDOWS)
    for at in range(0, max(1, len(padded) - _WINDOW), step):
        for number, bin_energy in enumerate(energies(padded[at : at + _WINDOW])):
            energy[number] += bin_energy
    return energy
