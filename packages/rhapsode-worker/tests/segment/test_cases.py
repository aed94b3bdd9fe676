"""cases.md 1 to 10: what users of other servers reported of split text."""

import re

import pytest
from rhapsode_worker.segmenting import Joint, split


def texts(text: str, limit: int, language: str | None = None) -> list[str]:
    return [segment.text for segment in split(text, limit, language=language)]


def sentences(text: str, language: str | None = None) -> list[str]:
    """The sentences of `text`: its cuts at the largest limit that lets no two share a piece."""
    found = [text]
    for limit in range(len(text), 0, -1):
        segments = split(text, limit, language=language)
        if any(segment.after not in {Joint.SENTENCE, None} for segment in segments):
            break
        found = [segment.text for segment in segments]
    return found


def test_case_1_abbreviations_and_hours_end_no_sentence() -> None:
    assert sentences("Dr. Smith arrived at 9 a.m. sharp. He left.") == [
        "Dr. Smith arrived at 9 a.m. sharp.",
        "He left.",
    ]


@pytest.mark.parametrize("limit", range(1, 40))
def test_case_2_no_piece_ends_within_a_number_an_address_or_an_email(limit: int) -> None:
    text = "Pi is 3.14. See https://a.example.com/x.y?z=1.2 or me@b.co. Done."
    assert " ".join(texts(text, limit)) == text


def test_case_2_an_address_before_a_full_stop_ends_its_sentence() -> None:
    text = "Pi is 3.14. See https://a.example.com/x.y?z=1.2 or me@b.co. Done."
    assert texts(text, 48) == [
        "Pi is 3.14.",
        "See https://a.example.com/x.y?z=1.2 or me@b.co.",
        "Done.",
    ]


@pytest.mark.parametrize("limit", range(1, 40))
def test_case_3_a_number_keeps_its_points(limit: int) -> None:
    text = "Mt. Everest is 8,848.86 m high. Wow."
    assert " ".join(texts(text, limit)) == text


def test_case_3_the_mountain_is_one_sentence() -> None:
    assert sentences("Mt. Everest is 8,848.86 m high. Wow.") == [
        "Mt. Everest is 8,848.86 m high.",
        "Wow.",
    ]


@pytest.mark.parametrize("first_limit", [None, 40])
def test_case_4_no_latin_word_is_torn_in_five_thousand_characters(first_limit: int | None) -> None:
    words = ("lorem ipsum dolor sit amet consectetur adipiscing elit sed do " * 81)[:5000].split()
    segments = split(" ".join(words), 200, first_limit=first_limit)
    assert [word for segment in segments for word in segment.text.split()] == words
    assert all(len(segment.text) <= 200 for segment in segments)


def test_case_5_two_thousand_han_characters_are_cut_at_the_limit() -> None:
    pieces = texts("天地玄黄宇宙洪荒" * 250, 180)
    assert "".join(pieces) == "天地玄黄宇宙洪荒" * 250
    assert [len(piece) for piece in pieces] == [180] * 11 + [20]


def test_case_5_two_chinese_sentences_are_two() -> None:
    assert sentences("你好。今天天气很好！", "zh") == ["你好。", "今天天气很好！"]


def test_case_5_korean_and_latin_keep_their_spaces_and_han_gets_none() -> None:
    assert texts("안녕하세요. 반가워요. Good day. 你好。再见。", 100) == [
        "안녕하세요. 반가워요. Good day. 你好。再见。"
    ]
    assert texts("안녕하세요. 반가워요. 또 만나요.", 13) == ["안녕하세요. 반가워요.", "또 만나요."]
    assert texts("你好。再见。明天见。", 6) == ["你好。再见。", "明天见。"]


def test_case_5_a_closing_corner_bracket_stays_with_its_sentence() -> None:
    assert sentences("「行こう。」彼は立った。「はい。」", "ja") == [
        "「行こう。」",
        "彼は立った。",
        "「はい。」",
    ]


def test_case_6_an_aside_and_dashes_make_one_sentence() -> None:
    assert sentences("The plan (see below) — well — works.") == [
        "The plan (see below) — well — works."
    ]


@pytest.mark.parametrize("limit", range(1, 40))
@pytest.mark.parametrize(
    "text", ["The plan (see below) — well — works.", "He said: ‘Stop!’ Then he ran."]
)
def test_case_6_no_quote_bracket_or_dash_stands_at_the_wrong_end(text: str, limit: int) -> None:
    for piece in texts(text, limit):
        assert piece[0] not in ")—’.,!"
        assert piece[-1] not in "(‘"
        assert re.search(r"\w", piece)


def test_case_6_a_quoted_sentence_ends_with_its_quote() -> None:
    assert sentences("He said: ‘Stop!’ Then he ran.") == ["He said: ‘Stop!’", "Then he ran."]


@pytest.mark.parametrize("limit", range(1, 20))
def test_case_7_no_piece_is_empty_or_punctuation_alone(limit: int) -> None:
    for text in ("Wait... what? No!", "Wait ... what ? No !", "« Quoi ? — Non ! »"):
        assert all(re.search(r"\w", piece) for piece in texts(text, limit))


def test_case_8_twenty_numbered_sentences_are_all_there_with_their_numbers() -> None:
    listed = [f"{number}. This is sentence number {number}." for number in range(1, 21)]
    assert texts(" ".join(listed), 40) == listed


@pytest.mark.parametrize("character", [".", "a", "1"])
@pytest.mark.parametrize("first_limit", [None, 60])
def test_case_9_one_character_four_thousand_times_is_one_piece(
    character: str, first_limit: int | None
) -> None:
    text = character * 4096
    assert [segment.text for segment in split(text, 200, first_limit=first_limit)] == [text]


@pytest.mark.parametrize("limit", range(1, 50))
def test_case_10_a_cue_at_a_boundary_is_in_exactly_one_piece(limit: int) -> None:
    pieces = texts("That is the end. [clear  throat] Start again, please.", limit)
    assert sum("[clear  throat]" in piece for piece in pieces) == 1


def test_case_10_a_cue_counts_as_one_character_and_goes_with_what_follows() -> None:
    assert texts("That is the end. [laugh] Start again.", 16) == [
        "That is the end.",
        "[laugh] Start again.",
    ]
    # 14 = one for the cue, one for the space, "Start again."
    assert texts("End. [laugh] Start again.", 14) == ["End.", "[laugh] Start again."]


def test_case_10_a_cue_that_ends_a_paragraph_goes_with_what_precedes() -> None:
    assert texts("He fell over. [laugh]\n\nNobody saw it.", 15) == [
        "He fell over. [laugh]",
        "Nobody saw it.",
    ]


def test_case_10_only_a_limit_that_leaves_no_room_parts_a_cue_from_its_sentence() -> None:
    assert texts("[laugh] abcdef", 8) == ["[laugh] abcdef"]
    assert texts("[laugh] abcdefg", 7) == ["[laugh]", "abcdefg"]
