"""The promises of `split` that hold for whatever text, by example."""

import pytest
from rhapsode_worker.segmenting import Joint, Segment, split


def texts(text: str, limit: int, language: str | None = None) -> list[str]:
    return [segment.text for segment in split(text, limit, language=language)]


@pytest.mark.contract("8.split.order")
def test_a_run_of_short_sentences_is_one_segment() -> None:
    assert texts("One. Two. Three. Four. Five.", 20) == ["One. Two. Three.", "Four. Five."]


def test_a_sentence_that_fits_is_not_cut_to_fill_the_one_before() -> None:
    assert texts("It was so. The other sentence, though, is long.", 38) == [
        "It was so.",
        "The other sentence, though, is long.",
    ]


@pytest.mark.contract("8.split.order")
def test_a_sentence_too_long_is_cut_at_its_clauses_and_a_clause_at_its_words() -> None:
    segments = split("When it rains, the streets of the old town are empty.", 22)
    assert [(segment.text, segment.after) for segment in segments] == [
        ("When it rains,", Joint.CLAUSE),
        ("the streets of the old", Joint.WORD),
        ("town are empty.", None),
    ]


def test_a_clause_that_was_cut_is_packed_with_the_sentence_after_it() -> None:
    assert texts("the streets of the old town. We left.", 24) == [
        "the streets of the old",
        "town. We left.",
    ]


@pytest.mark.contract("8.split.long-word")
def test_a_word_longer_than_the_limit_stays_whole_with_its_punctuation() -> None:
    assert texts("A (Donaudampfschifffahrtsgesellschaft), yes.", 10) == [
        "A",
        "(Donaudampfschifffahrtsgesellschaft),",
        "yes.",
    ]


def test_segments_are_numbered_and_know_both_their_joints() -> None:
    assert split("One is here. Two, and more.", 13) == (
        Segment("One is here.", 0, None, Joint.SENTENCE),
        Segment("Two,", 1, Joint.SENTENCE, Joint.CLAUSE),
        Segment("and more.", 2, Joint.CLAUSE, None),
    )


def test_the_pause_suits_the_punctuation_that_made_the_joint() -> None:
    assert [joint.silence_ms(250) for joint in Joint] == [250, 100, 0]
    assert all(joint.silence_ms(0) == 0 for joint in Joint)


def test_sentences_within_quotes_are_kept_together_where_they_fit() -> None:
    assert texts('It is so. He said "Go. Now."', 22) == ["It is so.", 'He said "Go. Now."']
    assert texts("It is so. (She said: go. Now.) Then.", 27)[0] == "It is so."


def test_sentences_within_a_quotation_that_is_too_long_end_as_sentences() -> None:
    segments = split("“The first of them. The second of them. The third.”", 22)
    assert [segment.text for segment in segments] == [
        "“The first of them.",
        "The second of them.",
        "The third.”",
    ]
    assert segments[0].after is Joint.SENTENCE


def test_a_pair_ends_with_its_paragraph() -> None:
    assert texts("She left. “It begins.\n\nOne” two.", 22) == [
        "She left. “It begins.",
        "One” two.",
    ]


def test_an_apostrophe_is_no_quote() -> None:
    assert texts("It's the dogs' bowl. He's here. ‘Go.’", 20) == [
        "It's the dogs' bowl.",
        "He's here. ‘Go.’",
    ]


def test_a_no_break_space_holds_as_long_as_it_can() -> None:
    assert texts("It costs 10\u00a0000\u00a0€ now", 16) == ["It costs", "10\u00a0000\u00a0€ now"]
    assert texts("It is on page\u00a0seven now", 13) == ["It is on", "page\u00a0seven", "now"]
    assert texts("un\u00a0deux\u00a0trois", 7) == ["un\u00a0deux", "trois"]


def test_groups_of_thousands_are_one_number() -> None:
    assert texts("It costs 12 000 000 now", 15) == ["It costs", "12 000 000 now"]


def test_a_dash_between_words_parts_clauses_and_a_hyphen_makes_one_word() -> None:
    assert texts("The plan—which we made—works", 14) == ["The plan—", "which we made—", "works"]
    assert texts("a well-known-thing", 6) == ["a", "well-known-thing"]
    assert texts("at https://a.example/x—y now", 6) == ["at", "https://a.example/x—y", "now"]


def test_a_list_mark_stays_with_its_item() -> None:
    assert texts("Buy:\n1. Milk\n2. Eggs\n- Bread\n• Tea", 8) == [
        "Buy:",
        "1. Milk",
        "2. Eggs",
        "- Bread",
        "• Tea",
    ]


def test_cues_alone_are_cut_between_cues() -> None:
    assert texts("[laugh][sigh][gasp]", 2) == ["[laugh][sigh]", "[gasp]"]
    assert texts("[laugh] [sigh] [gasp]", 3) == ["[laugh] [sigh]", "[gasp]"]


def test_a_bracket_that_is_no_cue_is_text() -> None:
    assert texts("[laughter] [laugh]", 12) == ["[laughter] [laugh]"]
    assert texts("[laughter] [laugh]", 11) == ["[laughter]", "[laugh]"]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000\u2028"])
def test_nothing_has_no_segment(text: str) -> None:
    assert split(text, 10) == ()


@pytest.mark.parametrize(
    "text", ["...", "?! ?! ?! ?!", "👍🏽 👩‍👩‍👧 🇩🇪", "\u200b\u200b", "- - - -"]
)
def test_what_nobody_can_say_is_in_one_piece(text: str) -> None:
    assert texts(text, 2) == [text]


@pytest.mark.parametrize(
    "text", ["a\x00b. C d", "a\ud800. \udfffB", "\u202eabc. Def", "\ue000 a b"]
)
def test_strange_characters_are_characters(text: str) -> None:
    assert "".join(texts(text, 4)).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(("limit", "first_limit"), [(0, None), (-1, None), (10, 0)])
def test_a_limit_below_one_is_an_error(limit: int, first_limit: int | None) -> None:
    with pytest.raises(ValueError):
        split("text", limit, first_limit=first_limit)
