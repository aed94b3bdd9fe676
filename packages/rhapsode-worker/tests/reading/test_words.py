"""Words are bounded where no person would read them in one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_worker.reading.words import (
    MAX_LETTERS,
    MAX_SIGNS_AND_LETTERS,
    with_words_bounded,
)

LONGEST = "pneumonoultramicroscopicsilicovolcanoconiosis"


@pytest.mark.parametrize("text", ["", "a well-known word", LONGEST, "x" * MAX_LETTERS])
def test_what_people_write_is_left_alone(text: str) -> None:
    assert with_words_bounded(text) == text


def test_a_word_with_signs_is_cut_before_a_letter() -> None:
    assert with_words_bounded("jack-of-all-trades-and-master-of-none") == (
        "jack-of-all-trades-and- master-of-none"
    )


def test_a_sign_stands_three_times_at_most() -> None:
    assert with_words_bounded("No!!!!!! ----- well...") == "No!!! --- well..."


@given(st.text(st.sampled_from("aZ1@-&/你 ."), max_size=300))
def test_only_spaces_and_repeated_signs_differ_and_every_word_is_short(text: str) -> None:
    bounded = with_words_bounded(text)
    for word in bounded.split():
        assert len(word) <= MAX_LETTERS
        assert len(word) <= MAX_SIGNS_AND_LETTERS or any(map(str.isalpha, word))
    assert [c for c in bounded if c.isalnum()] == [c for c in text if c.isalnum()]
