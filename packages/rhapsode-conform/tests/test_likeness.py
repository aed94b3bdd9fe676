"""What a codec does to a recording is told from another recording."""

import random
from array import array
from collections.abc import Callable
from itertools import accumulate
from math import pi, sin

import pytest
from rhapsode_conform.likeness import ALIKE, likeness
from rhapsode_conform.sound import Sound

RATE_HZ = 16_000


def melody(*notes: tuple[int, int], rate_hz: int = RATE_HZ, peak: int = 9000) -> Sound:
    """Returns tones one after another, each (Hz, milliseconds); 0 Hz is silence."""
    steps = [2 * pi * hertz / rate_hz for hertz, ms in notes for _ in range(ms * rate_hz // 1000)]
    audible = [step > 0 for step in steps]
    phases = accumulate(steps)
    samples = [round(peak * sin(at)) if on else 0 for at, on in zip(phases, audible, strict=True)]
    return Sound(array("h", samples).tobytes(), rate_hz, 1)


SAID = ((220, 300), (0, 120), (440, 240), (0, 60), (880, 400), (330, 180))
OTHER = ((880, 200), (220, 260), (0, 200), (330, 340), (440, 300))
ONE = melody(*SAID)


def later(milliseconds: int) -> Sound:
    return melody((0, milliseconds), *SAID)


def in_stereo() -> Sound:
    samples = array("h", ONE.pcm)
    both = array("h", [value for value in samples for _ in range(2)])
    return Sound(both.tobytes(), RATE_HZ, 2)


@pytest.mark.parametrize(
    "other",
    [ONE, later(60), later(180), melody(*SAID, peak=2000), melody(*SAID, rate_hz=8000)]
    + [melody(*SAID, rate_hz=48_000), in_stereo()],
    ids=["the same", "later", "much later", "quieter", "at 8 kHz", "at 48 kHz", "in stereo"],
)
def test_what_a_codec_may_do_is_alike(other: Sound) -> None:
    assert likeness(ONE, other) > 0.97
    assert likeness(other, ONE) > 0.97


def noise() -> Sound:
    drawn = random.Random(1)
    samples = array("h", [drawn.randrange(-9000, 9000) for _ in range(len(ONE.pcm) // 2)])
    return Sound(samples.tobytes(), RATE_HZ, 1)


@pytest.mark.parametrize(
    "make",
    [lambda: melody(*OTHER), noise, lambda: Sound(bytes(len(ONE.pcm)), RATE_HZ, 1)]
    + [lambda: melody((220, 1300)), lambda: Sound(b"", RATE_HZ, 1)],
    ids=["another melody", "noise", "silence", "one note of it", "nothing"],
)
def test_what_is_something_else_is_not(make: Callable[[], Sound]) -> None:
    assert likeness(ONE, make()) < ALIKE
