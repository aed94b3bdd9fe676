"""Recordings to make voices of."""

import math
import struct
from typing import Final

from rhapsode_conform.form import File
from rhapsode_conform.sound import Sound
from rhapsode_conform.wave_file import wave_file

_RATE_HZ: Final = 24_000


def clip(hertz: int, name: str = "clip.wav") -> File:
    """Returns a second of a sine."""
    step = 2 * math.pi * hertz / _RATE_HZ
    samples = [round(9000 * math.sin(step * at)) for at in range(_RATE_HZ)]
    pcm = struct.pack(f"<{_RATE_HZ}h", *samples)
    return File(name, wave_file(Sound(pcm, _RATE_HZ, 1), seconds=1))
