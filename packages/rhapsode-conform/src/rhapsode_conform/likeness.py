"""How alike two recordings are where one of them went through a codec.

What a codec does to audio is nothing to a listener and everything to a comparison of samples: it
begins some milliseconds later, with other samples at another rate. So it is held against how loud
each band of frequencies is, from moment to moment.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Final

from rhapsode_conform.fourier import energies
from rhapsode_conform.sound import Samples, Sound

ALIKE: Final = 0.85
"""Recordings of one utterance are at least so much alike. Over three engines and every format of
theirs the least was 0.998; another sentence in the same voice came to 0.5 to 0.95, noise of the
same length to 0.3, silence to 0."""

_STEP_MS: Final = 10
"""How finely it is looked for where one begins in the other."""
_MOST_STEPS: Final = 20
_MOMENTS: Final = 16
_WINDOW_SECONDS: Final = 0.045
"""What a moment lasts."""
_BANDS_HZ: Final = tuple(80 * 1.27**number for number in range(17))
"""Edges of the bands, up to where the lowest rate of any format ends."""


def likeness(one: Sound, other: Sound) -> float:
    """Returns how alike two recordings are: 1 is the same, whatever the loudness; 0 is nothing.

    Args:
        one: At any rate from 8 kHz on; of several channels the first is heard.
        other: As `one`, and up to a fifth of a second earlier or later.
    """
    a, b = one.mono(), other.mono()
    steps = _steps_apart(_loudness(a, one.rate_hz), _loudness(b, other.rate_hz))
    begins = max(0, -steps) * _STEP_MS / 1000, max(0, steps) * _STEP_MS / 1000
    lasts = min(len(a) / one.rate_hz - begins[0], len(b) / other.rate_hz - begins[1])
    lasts = max(0.0, lasts - _WINDOW_SECONDS)
    heard: tuple[list[float], list[float]] = ([], [])
    for moment in range(_MOMENTS):
        at = lasts * moment / _MOMENTS
        heard[0].extend(_bands(a, one.rate_hz, begins[0] + at))
        heard[1].extend(_bands(b, other.rate_hz, begins[1] + at))
    return _cosine(*heard)


def _steps_apart(one: Sequence[float], other: Sequence[float]) -> int:
    """Returns how many steps later `other` begins, or as a negative number, how many earlier."""

    def fit(steps: int) -> tuple[float, int]:
        likeness = _cosine(one[max(0, -steps) :], other[max(0, steps) :])
        return round(likeness, 3), -abs(steps)

    return max(range(-_MOST_STEPS, _MOST_STEPS + 1), key=fit)


def _loudness(samples: Samples, rate_hz: int) -> list[float]:
    size = rate_hz * _STEP_MS // 1000
    return [
        sqrt(sum(value * value for value in samples[at : at + size]))
        for at in range(0, len(samples), size)
    ]


def _bands(samples: Samples, rate_hz: int, seconds: float) -> list[float]:
    """Returns the amplitude of each band in the moment that begins at `seconds`."""
    # Of the same length at every rate: how far a tone spreads depends on it.
    size = round(rate_hz * _WINDOW_SECONDS)
    at = round(seconds * rate_hz)
    window = samples[at : at + size].tolist()
    found = energies(window + [0] * (size - len(window)))
    bands = [0.0] * (len(_BANDS_HZ) - 1)
    band = 0
    for number, energy in enumerate(found):
        hertz = number * rate_hz / (2 * len(found))
        while band < len(bands) and hertz >= _BANDS_HZ[band + 1]:
            band += 1
        if band == len(bands):
            break
        if hertz >= _BANDS_HZ[0]:
            bands[band] += energy
    return [sqrt(energy) for energy in bands]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    size = sqrt(sum(value * value for value in one) * sum(value * value for value in other))
    return sum(a * b for a, b in zip(one, other, strict=False)) / size if size else 0.0
