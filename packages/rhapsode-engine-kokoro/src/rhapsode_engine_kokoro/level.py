"""The level and the silences of what the model makes."""

from typing import Final

from rhapsode_worker import loudness
from rhapsode_worker.loudness import Audio

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
    return loudness.levelled(audio, gain=GAIN, knee=KNEE, ceiling=CEILING)


def trimmed(audio: Audio, sample_rate: int) -> Audio:
    """Returns `audio` without the silence around it; empty where it is silent throughout."""
    return loudness.trimmed(
        audio,
        sound=_SOUND,
        before=int(_SECONDS_BEFORE * sample_rate),
        after=int(_SECONDS_AFTER * sample_rate),
    )
