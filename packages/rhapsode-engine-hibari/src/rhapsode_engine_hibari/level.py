"""The level and the silences of what the model makes."""

from typing import Final

from rhapsode_worker import loudness
from rhapsode_worker.loudness import Audio
from rhapsode_worker.reading import Ending

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
    return loudness.levelled(audio, gain=GAIN, knee=KNEE, ceiling=CEILING)


def trimmed(audio: Audio, sample_rate: int, ending: Ending) -> Audio:
    """Returns `audio` with no more silence at its ends than a listener needs.

    Empty where it was silent throughout.
    """
    kept = _SECONDS_AFTER[ending]
    return loudness.trimmed(
        audio,
        sound=_SOUND,
        before=int(_SECONDS_BEFORE * sample_rate),
        after=None if kept is None else int(kept * sample_rate),
    )
