"""Level and silences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_engine_kokoro.level import CEILING, GAIN, KNEE, levelled, trimmed
from rhapsode_worker.loudness import Audio

RATE = 24_000


def test_ordinary_speech_is_made_louder_by_one_factor() -> None:
    audio = np.linspace(-KNEE / GAIN, KNEE / GAIN, 101, dtype=np.float32)
    assert levelled(audio) == pytest.approx(audio * GAIN)


@given(st.lists(st.floats(-100, 100, width=32), min_size=1))
def test_nothing_ever_reaches_full_scale(values: list[float]) -> None:
    audio = np.array(values, dtype=np.float32)
    made = levelled(audio)
    assert np.abs(made).max() <= CEILING + 1e-6
    assert (np.sign(made) == np.sign(audio * np.float32(GAIN))).all()


def test_the_limiter_bends_and_never_folds() -> None:
    made = levelled(np.linspace(0, 2, 1000, dtype=np.float32))
    assert (np.diff(made) >= 0).all()


def speech(before: int, sound: int, after: int) -> Audio:
    parts = [np.zeros(before), np.full(sound, 0.1), np.zeros(after)]
    return np.concatenate(parts).astype(np.float32)


def test_the_silence_around_a_phrase_is_cut_but_for_an_edge() -> None:
    assert len(trimmed(speech(7_000, 100, 9_000), RATE)) == 720 + 100 + 1_440


def test_no_silence_is_invented() -> None:
    assert len(trimmed(speech(5, 100, 5), RATE)) == 110


def test_silence_throughout_is_nothing() -> None:
    assert len(trimmed(speech(100, 0, 0), RATE)) == 0
    assert len(trimmed(speech(0, 0, 0), RATE)) == 0
