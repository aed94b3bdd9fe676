"""The level and the silences of what the model makes."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Audio = NDArray[np.float32]

GAIN: Final = 1.12
"""The median of the voices speaks at -21 LUFS; this makes it -20, as speech usually is. The same
for all of them, so that no level depends on what is said."""

KNEE: Final = 0.8
CEILING: Final = 0.97
"""What lies above the knee after the gain is bent to stay below the ceiling; the rest is
untouched."""

_SOUND: Final = 0.002
"""What is below this is silence: 54 dB under full scale."""

_SECONDS_BEFORE: Final = 0.03
_SECONDS_AFTER: Final = 0.06
"""Kept of the silences around a phrase, where a sound begins and dies away."""


def levelled(audio: Audio) -> Audio:
    """Returns `audio` at a speaking level, within ±`CEILING`."""
    louder = audio * np.float32(GAIN)
    magnitude = np.abs(louder)
    loud = magnitude > KNEE
    if loud.any():
        room = CEILING - KNEE
        bent = KNEE + room * np.tanh((magnitude[loud] - KNEE) / room)
        louder[loud] = np.copysign(bent, louder[loud])
    return louder


def trimmed(audio: Audio, sample_rate: int) -> Audio:
    """Returns `audio` without the silence around it; empty where it is silent throughout."""
    sounding = np.flatnonzero(np.abs(audio) > _SOUND)
    if not len(sounding):
        return audio[:0]
    first = max(0, int(sounding[0]) - int(_SECONDS_BEFORE * sample_rate))
    return audio[first : int(sounding[-1]) + 1 + int(_SECONDS_AFTER * sample_rate)]
