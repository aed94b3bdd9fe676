"""What the model is told for the speed that a request asks for."""

from typing import Final

import numpy as np

_ASKED: Final = (0.5, 1.0, 1.3, 1.5, 1.75, 2.0)
_TOLD: Final = (0.5, 1.0, 1.32, 1.5, 1.9, 2.5)
"""Measured over twelve sentences, hibari 0.2.1: the model rounds each phoneme to whole frames of
25 ms and gives none less than one, so told 2.0 it leaves 0.53 to 0.60 of the duration, told 2.5 it
leaves 0.47 to 0.55."""


def model_speed(asked: float) -> float:
    """Returns what the model is told so that it speaks `asked` times as fast."""
    return float(np.interp(asked, _ASKED, _TOLD))
