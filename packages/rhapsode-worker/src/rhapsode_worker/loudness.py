"""The level of a model's audio and the silence around it, for adapters that have numpy.

Nothing of the SDK imports this: a worker whose engine needs no numpy has none.
"""

import numpy as np
from numpy.typing import NDArray

Audio = NDArray[np.float32]
"""Shape (n,), full scale at 1.0."""


def levelled(audio: Audio, *, gain: float, knee: float, ceiling: float) -> Audio:
    """Returns `audio` times `gain`, within ±`ceiling`.

    What lies above the knee after the gain is bent to stay below the ceiling; the rest is
    untouched.
    """
    louder = audio * np.float32(gain)
    magnitude = np.abs(louder)
    loud = magnitude > knee
    if loud.any():
        room = ceiling - knee
        bent = knee + room * np.tanh((magnitude[loud] - knee) / room)
        louder[loud] = np.copysign(bent, louder[loud])
    return louder


def trimmed(audio: Audio, *, sound: float, before: int, after: int | None) -> Audio:
    """Returns `audio` without the silence around it; empty where it is silent throughout.

    Args:
        audio: What is cut.
        sound: What is not above this is silence.
        before: Samples of the silence before it that are kept.
        after: The same behind it, or None for all.
    """
    sounding = np.flatnonzero(np.abs(audio) > sound)
    if not len(sounding):
        return audio[:0]
    first = max(0, int(sounding[0]) - before)
    last = len(audio) if after is None else int(sounding[-1]) + 1 + after
    return audio[first:last]
