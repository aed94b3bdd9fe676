"""What the model is given at once."""

from rhapsode_engine_kokoro.phrases import FIRST_SEGMENT_CHARACTERS, Phrase, phrases_of

SENTENCE = (
    "The old lighthouse stood at the edge of the harbor for nearly two hundred years, and every"
    " evening its keeper climbed the narrow stairs to light the lamp."
)


def spelt(text: str) -> list[Phrase]:
    return list(phrases_of(text, lambda sentence: sentence))


def test_a_short_text_is_one_phrase() -> None:
    assert spelt("Hello there.") == [Phrase("Hello there.", 0)]


def test_the_first_phrase_is_short_so_that_it_is_heard_soon() -> None:
    for text in (f"{SENTENCE} {SENTENCE}", f"Yes, {SENTENCE} {SENTENCE}"):
        assert len(spelt(text)[0].phonemes) <= FIRST_SEGMENT_CHARACTERS


def test_a_sentence_whose_first_clause_is_long_is_cut_once() -> None:
    for text in (SENTENCE, f"Yes, {SENTENCE}"):
        first, _ = spelt(text)
        assert len(first.phonemes) <= 2 * FIRST_SEGMENT_CHARACTERS


def test_a_pause_suits_what_is_before_it() -> None:
    pauses = [phrase.pause_ms for phrase in spelt(f"{SENTENCE} {SENTENCE}")]
    assert pauses[0] == 0
    assert pauses[1] == 0  # within a clause
    assert 100 in pauses
    assert 250 in pauses


def test_no_word_or_two_are_left_alone_at_the_end() -> None:
    text = "The old lighthouse keeper climbed the winding stairs every evening before sunset."
    assert all(len(phrase.phonemes.split()) > 2 for phrase in spelt(text))


def test_a_line_without_a_mark_is_ended_before_the_next() -> None:
    assert spelt("A heading\n\nThe text.") == [Phrase("A heading. The text.", 0)]


def test_what_reads_longer_than_it_is_written_is_cut_again() -> None:
    phrases = list(phrases_of("A word " * 25, lambda sentence: "ə" * 9 * len(sentence)))
    assert max(len(phrase.phonemes) for phrase in phrases) <= 250


def test_sentences_that_nothing_is_said_of_leave_no_pause() -> None:
    said = phrases_of(f"{SENTENCE} {SENTENCE}", lambda sentence: "")
    assert list(said) == []
