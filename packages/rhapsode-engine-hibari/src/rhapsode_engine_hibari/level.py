"""The level and the silences of what the model makes."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from rhapsode_worker.reading import Ending

Audio = NDArray[np.float32]

GAIN: Final = 2.0
"""The model speaks at -26 LUFS (measured over 47 minutes); this makes it -20, as speech usually is.
The same for every piece, so that no level jumps between two sentences."""

KNEE: Final = 0.75
CEILING: Final = 0.97
"""What lies above the knee after the gain, about one sample in 40,000, is bent to stay below the
ceiling; everything else is untouched."""

_SOUND: Final = 0.001
"""What is below this, before the gain, is silence: 60 dB under full scale."""

_SECONDS_BEFORE: Final = 0.04
"""Kept of the quarter of a second that the model is silent before it speaks."""

_SECONDS_AFTER: Final[dict[Ending, float | None]] = {
    "sentence": None,
    "clause": 0.2,
    "word": 0.03,
}
"""Kept of the silence after it; after a sentence all of it, which is the pause between two."""


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


def trimmed(audio: Audio, sample_rate: int, ending: Ending) -> Audio:
    """Returns `audio` with no more silence at its ends than a listener needs.

    Empty where it was silent throughout.
    """
    sounding = np.flatnonzero(np.abs(audio) > _SOUND)
    if not len(sounding):
        return audio[:0]
    first = max(0, int(sounding[0]) - int(_SECONDS_BEFORE * sample_rate))
    kept = _SECONDS_AFTER[ending]
    last = len(audio) if kept is None else int(sounding[-1]) + 1 + int(kept * sample_rate)
    return audio[first:last]
