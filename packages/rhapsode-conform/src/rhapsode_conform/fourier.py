"""How much of each frequency is in a stretch of sound."""

from cmath import exp
from collections.abc import Sequence
from functools import lru_cache
from math import cos, pi


def energies(samples: Sequence[int]) -> list[float]:
    """Returns the energy of each frequency below half the sample rate, from the lowest on.

    There are half as many as the next power of two has, in equal steps.
    """
    cut = zip(samples, _hann(len(samples)), strict=True)
    values = [complex(value * weight) for value, weight in cut]
    size = 1 << (len(values) - 1).bit_length()
    bins = _transform(values + [0j] * (size - len(values)))
    return [abs(value) ** 2 for value in bins[: size // 2]]


@lru_cache(maxsize=8)
def _hann(size: int) -> tuple[float, ...]:
    """Returns a window that falls to nothing, so that where in its cycle a tone is cut matters
    little."""
    return tuple((1 - cos(2 * pi * i / size)) / 2 for i in range(size))


def _transform(values: list[complex]) -> list[complex]:
    """Returns the discrete Fourier transform; the length is a power of two."""
    if len(values) == 1:
        return values
    even, odd = _transform(values[::2]), _transform(values[1::2])
    turned = [turn * value for turn, value in zip(_turns(len(values)), odd, strict=True)]
    return [a + b for a, b in zip(even, turned, strict=True)] + [
        a - b for a, b in zip(even, turned, strict=True)
    ]


@lru_cache(maxsize=16)
def _turns(length: int) -> tuple[complex, ...]:
    return tuple(exp(-2j * pi * k / length) for k in range(length // 2))
