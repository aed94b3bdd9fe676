"""A text as notes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_engine_tone.score import MS_PER_CHARACTER, MS_PER_CUE, Note, milliseconds_of, notes_of


def test_a_word_sounds_and_what_is_between_words_is_silent() -> None:
    assert list(notes_of("ab, c")) == [
        Note(120),
        Note(120, is_silent=True),
        Note(60),
    ]


def test_a_cue_is_a_note_of_its_own_and_costs_no_letters() -> None:
    assert list(notes_of("a[Clear  Throat]b")) == [
        Note(MS_PER_CHARACTER),
        Note(MS_PER_CUE, cue="clear throat"),
        Note(MS_PER_CHARACTER),
    ]


def test_other_brackets_are_text() -> None:
    assert milliseconds_of("[sic]") == 5 * MS_PER_CHARACTER


@given(st.text(st.characters(exclude_characters="[]")))
def test_every_code_point_lasts_as_long_as_any_other(text: str) -> None:
    assert milliseconds_of(text) == pytest.approx(len(text) * MS_PER_CHARACTER)


@given(st.text(), st.floats(0.5, 2.0))
def test_speed_divides_the_length(text: str, speed: float) -> None:
    assert milliseconds_of(text, speed=speed) == pytest.approx(milliseconds_of(text) / speed)
