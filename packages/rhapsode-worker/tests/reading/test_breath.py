"""How much the model is given at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_worker.reading.breath import Breath, breaths_of

PHONEMES = st.text("abəˈɹ ,.;—?!“”", max_size=200)


def test_a_sentence_that_fits_is_one_breath() -> None:
    assert list(breaths_of("həlˈO ðˈɛɹ, ju.")) == [Breath("həlˈO ðˈɛɹ, ju.", "sentence")]


def test_a_long_sentence_is_cut_at_the_last_clause_that_fits() -> None:
    assert list(breaths_of("aa bb, cc dd, ee ff.", 14)) == [
        Breath("aa bb, cc dd,", "clause"),
        Breath("ee ff.", "sentence"),
    ]


def test_a_long_clause_is_cut_between_words_and_a_long_word_within() -> None:
    assert list(breaths_of("aa bb cc dd", 5)) == [
        Breath("aa bb", "word"),
        Breath("cc dd", "sentence"),
    ]
    assert list(breaths_of("abcdefg", 3)) == [
        Breath("abc", "word"),
        Breath("def", "word"),
        Breath("g", "sentence"),
    ]


@pytest.mark.parametrize("phonemes", ["", " ", "?!", "—", "“”", "..."])
def test_punctuation_alone_is_no_breath(phonemes: str) -> None:
    assert list(breaths_of(phonemes)) == []


@given(PHONEMES, st.integers(1, 40))
def test_no_breath_is_too_long_and_no_sound_is_lost(phonemes: str, limit: int) -> None:
    breaths = list(breaths_of(phonemes, limit))
    assert all(len(breath.phonemes) <= limit for breath in breaths)
    sounds = [c for c in phonemes if c.isalpha()]
    assert [c for breath in breaths for c in breath.phonemes if c.isalpha()] == sounds
    assert [breath.ending for breath in breaths if breath.ending == "sentence"] == (
        ["sentence"] if breaths else []
    )
