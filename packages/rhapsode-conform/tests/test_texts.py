"""What is asked for, in which language and how long."""

import pytest
from rhapsode_conform.texts import NoText, Texts
from rhapsode_contract import Variant

OURS = Texts()
OWN = Texts("წვიმა მოვა.")


def variant(limit: int | None = None, *languages: str) -> Variant:
    return Variant(cues=(), deliveries=(), dials={}, languages=languages, max_characters=limit)


@pytest.mark.parametrize(
    ("languages", "asked", "said"),
    [
        ((), None, "It is going to rain."),
        (("sv-SE", "en"), None, "Det kommer snart att regna."),
        (("sv", "en"), "en", "It is going to rain."),
        (("cmn-Hans",), None, "快要下雨了。"),
        (("ka",), None, "It is going to rain."),
    ],
)
def test_a_sentence_is_in_the_language_asked_for_where_we_know_it(
    languages: tuple[str, ...], asked: str | None, said: str
) -> None:
    assert OURS.sentence(variant(None, *languages), asked) == said


@pytest.mark.parametrize(
    ("asked", "said"),
    [(None, OWN.own), ("ka-GE", OWN.own), ("xx", OWN.own), ("fr", "Il va bientôt pleuvoir.")],
)
def test_a_text_of_ones_own_is_said_but_in_other_languages(
    asked: str | None, said: str | None
) -> None:
    assert OWN.sentence(variant(None, "ka", "fr", "xx"), asked) == said


def test_what_is_in_no_language_asked_for_is_known() -> None:
    several = variant(None, "ka", "fr", "xx")
    assert [OURS.knows(several, each) for each in ("ka", "fr", "xx")] == [False, True, False]
    assert [OWN.knows(several, each) for each in ("ka", "fr", "xx")] == [True, True, False]


@pytest.mark.parametrize("nothing", ["", "  ", "..."])
def test_a_text_with_nothing_to_say_is_none(nothing: str) -> None:
    with pytest.raises(NoText):
        Texts(nothing)


@pytest.mark.parametrize("limit", [1, 2, 5, 15, 16, 20, 28, 30, 61, 4096])
def test_nothing_is_longer_than_the_variant_allows(limit: int) -> None:
    small = variant(limit)
    assert 0 < len(OURS.sentence(small)) <= limit
    assert 0 < len(OURS.long(small, 600)) <= limit
    assert len(OURS.exactly(small, limit + 1)) == limit + 1
    for turns in (1, 2, 3, 9):
        assert turns * len(OURS.shared(small, turns)) <= limit
    if (pair := OURS.with_cue(small, "clear throat")) is not None:
        plain, marked = pair
        assert marked == f"{plain} [clear throat]"
        assert plain and len(marked) <= limit


def test_a_cue_for_which_there_is_no_room_is_not_asked_for() -> None:
    assert OURS.with_cue(variant(15), "clear throat") is None
    assert OURS.with_cue(variant(16), "clear throat") == ("I", "I [clear throat]")


def test_turns_for_which_there_is_no_room_say_nothing() -> None:
    assert OURS.shared(variant(4), 5) == ""
