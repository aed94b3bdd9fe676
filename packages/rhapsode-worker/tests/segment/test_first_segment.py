"""A small first segment, and those that grow after it (design: "Segments")."""

import pytest
from rhapsode_worker.segmenting import Joint, split

STORY = (
    "Yes, I know what you mean, and the others know it as well. But what shall we do about it, now "
    "that everybody has left the building? Nobody can tell. It is what it is, they say, and so it "
    "goes on and on, year after year, until the very end of the whole story. "
)

UNMARKED = "this is a row of words that goes on and on without any mark to pause at "


def texts(text: str, limit: int, first_limit: int, language: str | None = None) -> list[str]:
    segments = split(text, limit, first_limit=first_limit, language=language)
    return [segment.text for segment in segments]


def test_the_first_segment_ends_at_the_last_clause_that_fits() -> None:
    assert texts(STORY, 200, 30)[0] == "Yes, I know what you mean,"
    assert texts(STORY, 200, 57)[0] == "Yes, I know what you mean,"


def test_the_first_segment_ends_at_a_sentence_that_fits() -> None:
    assert texts(STORY, 200, 58)[0] == "Yes, I know what you mean, and the others know it as well."


@pytest.mark.parametrize("first_limit", range(1, 26))
def test_the_first_segment_is_never_a_word_or_two_before_a_comma(first_limit: int) -> None:
    assert texts(STORY, 200, first_limit)[0] != "Yes,"


def test_a_long_word_before_a_comma_is_no_first_segment() -> None:
    text = "Unfortunately, everybody has left the building. Nobody minds."
    assert texts(text, 200, 24)[0] == "Unfortunately, everybody has left the building."


def test_one_word_and_a_long_clause_are_spoken_together_where_the_clause_is_near() -> None:
    text = "Yes, the others have known about it as well. Nobody minds."
    assert texts(text, 200, 30)[0] == "Yes, the others have known about it as well."


def test_without_a_clause_in_twice_the_limit_the_first_segment_ends_at_a_word() -> None:
    segments = split(UNMARKED * 3, 200, first_limit=20)
    assert segments[0].text == "this is a row of"
    assert segments[0].after is Joint.WORD


@pytest.mark.parametrize(
    ("first_limit", "first"),
    [
        (12, "this is a row"),  # it would take more than twice as much
        (18, "this is a row of words that"),
        (26, "this is a row of words that"),
        (32, "this is a row of words that goes"),  # the last word within the limit
    ],
)
def test_one_word_ends_the_first_segment_where_the_next_is_the_last(
    first_limit: int, first: str
) -> None:
    assert texts(UNMARKED, 200, first_limit)[0] == first


@pytest.mark.parametrize("words", range(8, 40))
def test_a_text_without_a_mark_is_never_cut_twice_where_once_would_do(words: int) -> None:
    text = " ".join(["word"] * words)
    pieces = texts(text, 200, 32)
    if len(text) <= 3 * 60:
        assert len(pieces) <= 2
    assert all(len(b) <= 2 * len(a) for a, b in zip(pieces, pieces[1:], strict=False))


def test_what_holds_together_at_the_limit_does_not_hide_an_earlier_word() -> None:
    text = "Give jan. 5 up would on own dr. smith write jan. 5 with must what."
    assert texts(text, 200, 32)[0] == "Give jan. 5 up would on own"


def test_a_rest_longer_than_the_limit_is_not_one_more_segment() -> None:
    assert texts(UNMARKED, 30, 20)[0] == "this is a row of"


def test_a_short_chinese_greeting_is_no_first_segment() -> None:
    text = "好的，我们明天早上一起去公园散步。后天再见。"
    assert texts(text, 100, 16, "zh")[0] == "好的，我们明天早上一起去公园散步。"
    assert texts("今天天气很好，我们去公园散步吧。", 100, 10, "zh")[0] == "今天天气很好，"


def test_a_later_segment_rather_ends_early_at_a_clause_than_at_a_word() -> None:
    assert texts(STORY, 120, 30)[2] == "But what shall we do about it,"


@pytest.mark.contract("d.segments.first")
@pytest.mark.parametrize("first_limit", [12, 30, 60, 100])
@pytest.mark.parametrize("limit", [40, 120, 300])
def test_each_later_segment_is_at_most_twice_the_one_before(limit: int, first_limit: int) -> None:
    lengths = [len(text) for text in texts(STORY * 8, limit, first_limit)]
    for before, after in zip(lengths, lengths[1:], strict=False):
        assert after <= min(limit, 2 * before)


def test_the_segments_reach_the_limit_soon_and_keep_near_it() -> None:
    lengths = [len(text) for text in texts(STORY * 8, 300, 40)]
    assert min(lengths[4:-1]) >= 100
    assert max(lengths) > 200


def test_a_short_clause_does_not_hold_down_all_that_follow() -> None:
    text = "We will see, no. " + "and then there was a great deal more to be said of it " * 20
    lengths = [len(piece) for piece in texts(text, 300, 60)]
    assert max(lengths[3:]) > 200


def test_a_text_within_the_first_limit_is_one_segment() -> None:
    assert texts(" Yes, of course. ", 200, 30) == ["Yes, of course."]


def test_a_first_limit_above_the_limit_changes_nothing_of_the_limit() -> None:
    assert all(len(piece) <= 40 for piece in texts(STORY, 40, 1000))


def test_a_first_word_longer_than_everything_is_whole() -> None:
    assert texts("x" * 50 + " and then some more words.", 20, 10)[0] == "x" * 50


def test_han_without_a_mark_doubles_from_the_first_limit() -> None:
    lengths = [len(piece) for piece in texts("好" * 200, 60, 10)]
    assert lengths == [10, 20, 40, 60, 60, 10]
