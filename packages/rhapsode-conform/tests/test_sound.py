"""When two recordings are different."""

from array import array
from math import pi, sin

import pytest
from rhapsode_conform.sound import Sound, difference, is_different


def tone(hertz: float, amplitude: float = 0.5, seconds: float = 1.0, rate_hz: int = 8000) -> Sound:
    step = 2 * pi * hertz / rate_hz
    samples = [round(32767 * amplitude * sin(step * i)) for i in range(int(seconds * rate_hz))]
    return Sound(array("h", samples).tobytes(), rate_hz, 1)


@pytest.mark.parametrize(
    "other",
    [
        tone(900),
        tone(440, amplitude=0.1),
        tone(440, seconds=1.1),
        Sound(bytes(16000), 8000, 1),
    ],
    ids=["another pitch", "quieter", "longer", "silent"],
)
def test_what_a_listener_could_tell_is_different(other: Sound) -> None:
    assert is_different(tone(440), other)


def test_so_are_two_low_voices() -> None:
    assert is_different(tone(110, rate_hz=24_000), tone(220, rate_hz=24_000))


def beside(left: Sound, right: Sound) -> Sound:
    samples = array("h", bytes(2 * len(left.pcm)))
    samples[::2], samples[1::2] = left.mono(), right.mono()
    return Sound(samples.tobytes(), left.rate_hz, 2)


def test_so_is_what_is_told_apart_in_the_second_channel_alone() -> None:
    low, high = tone(200), tone(400)
    assert is_different(beside(low, low), beside(low, high))
    assert not is_different(beside(low, high), beside(low, high))


def test_so_is_one_channel_from_two() -> None:
    assert is_different(tone(440), beside(tone(440), tone(440)))


def test_how_far_apart_two_recordings_are_grows_with_what_tells_them_apart() -> None:
    near, far = difference(tone(440), tone(440, 0.49)), difference(tone(440), tone(440, 0.4))
    assert 0 < near < far
    assert difference(tone(440), tone(440)) == 0
    assert difference(tone(440), tone(440, seconds=1.1)) == pytest.approx(5)


def test_so_is_a_longer_silence() -> None:
    assert is_different(Sound(bytes(16000), 8000, 1), Sound(bytes(17000), 8000, 1))


def test_the_same_is_not() -> None:
    assert not is_different(tone(440), tone(440))


def test_nor_is_a_rounding() -> None:
    loud = tone(440)
    rounded = array("h", loud.pcm)
    for place in range(0, len(rounded), 7):
        rounded[place] = max(-32767, rounded[place] - 1)
    assert not is_different(loud, Sound(rounded.tobytes(), 8000, 1))


def test_what_is_too_short_for_a_window_is_compared_too() -> None:
    assert is_different(tone(440, seconds=0.02), tone(1500, seconds=0.02))
    assert not is_different(Sound(b"", 8000, 1), Sound(b"", 8000, 1))


def test_a_duration_counts_frames_and_not_samples() -> None:
    assert Sound(bytes(8000), 1000, 2).duration_ms == 2000
    assert list(Sound(array("h", [1, 9, 2, 9]).tobytes(), 1000, 2).mono()) == [1, 2]
