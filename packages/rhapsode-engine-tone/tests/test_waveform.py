"""Tones as samples."""

from array import array
from math import pi, sin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_engine_tone.waveform import FULL_SCALE, Tone, burst, pieces_of, second_of, silence

RATE = 24_000


def test_a_second_of_a_tone_is_that_sine() -> None:
    second = second_of(Tone(440, 0.5), RATE)
    for i in (0, 1, 13, 12_000, 23_999):
        assert second[i] == round(0.5 * FULL_SCALE * sin(2 * pi * 440 * i / RATE))


def test_a_tone_of_full_scale_does_not_wrap_around() -> None:
    second = second_of(Tone(440, 1.0, tremolo_hertz=6, tremolo_depth=1.0), RATE)
    assert max(second) <= FULL_SCALE
    assert min(second) >= -FULL_SCALE


@given(frames=st.integers(0, 60_000), start=st.integers(0, 100_000))
def test_a_burst_has_the_length_asked_for_and_silent_ends(frames: int, start: int) -> None:
    samples = burst(Tone(440, 0.5), frames, RATE, start=start)
    assert len(samples) == frames
    if frames > 1:
        assert samples[0] == samples[-1] == 0


def test_a_long_burst_has_no_step_where_the_second_ends() -> None:
    samples = burst(Tone(441, 0.5), 3 * RATE, RATE)
    largest_step = 0.5 * FULL_SCALE * 2 * pi * 441 / RATE
    assert max(abs(b - a) for a, b in zip(samples, samples[1:], strict=False)) <= largest_step + 1


@given(st.lists(st.integers(0, 6_000), max_size=5), st.sampled_from([1, 2]))
def test_pieces_are_tenths_of_a_second_and_lose_nothing(lengths: list[int], channels: int) -> None:
    runs = [burst(Tone(300, 0.5), length, RATE) for length in lengths]
    pieces = list(pieces_of(runs, sample_rate=RATE, channels=channels))
    assert all(len(piece) == 2 * channels * RATE // 10 for piece in pieces[:-1])
    samples = array("h", b"".join(pieces))
    assert samples[::channels] == array("h", [value for run in runs for value in run])


def test_the_second_channel_sounds_at_half_the_first() -> None:
    (piece,) = pieces_of([array("h", [1000, -1000])], sample_rate=RATE, channels=2)
    assert array("h", piece) == array("h", [1000, 500, -1000, -500])


def test_silence_is_silent() -> None:
    assert list(silence(3)) == [0, 0, 0]


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_a_burst_shorter_than_its_edges_is_no_error(frames: int) -> None:
    assert len(burst(Tone(440, 0.5), frames, RATE)) == frames
