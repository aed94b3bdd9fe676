"""A word at the end of a sentence is no abbreviation."""

import pytest
from rhapsode_worker.reading import with_last_words_kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The answer is no.", "The answer is no ."),
        ("He said no. That is it.", "He said no . That is it."),
        ("Yes, no. “Maybe.”", "Yes, no . “Maybe.”"),
        ('Say "no."', 'Say "no ."'),
        ("It is a no.\nNext", "It is a no .\nNext"),
        ("It is a fig.", "It is a fig ."),
        ("(we met Ch. and ed.)", "(we met Ch. and ed .)"),
    ],
)
def test_the_last_word_of_a_sentence_is_kept(text: str, kept: str) -> None:
    assert with_last_words_kept(text) == kept


@pytest.mark.parametrize(
    "text",
    ["no. 5 and no.7", "the no. of seats", "see fig. 3", "fig. A", "est. 1990", "No.", "piano."]
    + ["a casino. It", "i.no. X", "no! No? no"],
)
def test_an_abbreviation_is_left(text: str) -> None:
    assert with_last_words_kept(text) == text
