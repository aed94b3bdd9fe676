"""How high a recording sounds, told by how often it crosses zero."""

import wave
from array import array
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

SHORTEST_SECONDS: Final = 0.1

LOWEST_HERTZ: Final = 20
HIGHEST_HERTZ: Final = 2000

_HEARD_SECONDS: Final = 2
"""How much of its beginning is listened to."""

_LEAST_PERIODS: Final = 3


def pitch_of(path: Path) -> float:
    """Returns the pitch of a WAV file's first channel in hertz.

    The median of its periods, so that silences between tones do not count.

    Raises:
        ValueError: It is no 16-bit PCM WAV, is too short, or holds no tone in range.
    """
    rate, samples = _beginning(path)
    if len(samples) < SHORTEST_SECONDS * rate:
        raise ValueError(f"is shorter than {SHORTEST_SECONDS:g} s")
    rises = [
        at - before / (after - before)
        for at, (before, after) in enumerate(pairwise(samples))
        if before < 0 <= after
    ]
    periods = [later - earlier for earlier, later in pairwise(rises)]
    hertz = rate / median(periods) if len(periods) >= _LEAST_PERIODS else 0.0
    if not LOWEST_HERTZ <= hertz <= HIGHEST_HERTZ:
        raise ValueError(f"holds no tone from {LOWEST_HERTZ} to {HIGHEST_HERTZ} Hz")
    return hertz


def _beginning(path: Path) -> tuple[int, "array[int]"]:
    """Returns the sample rate and the first samples of the first channel."""
    try:
        with wave.open(str(path), "rb") as clip:
            rate = clip.getframerate()
            if clip.getsampwidth() != 2 or rate < 1:
                raise ValueError("is no 16-bit PCM")
            pcm = clip.readframes(_HEARD_SECONDS * rate)
            channels = clip.getnchannels()
    except (wave.Error, EOFError) as error:
        raise ValueError(f"is no WAV: {error or 'it ends too early'}") from None
    return rate, array("h", pcm[: len(pcm) // 2 * 2])[::channels]
