"""Cues in a text: found, taken out, and what is left to say (contract § 5)."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rhapsode_contract import CUES, find_cues, is_speakable, strip_cues

SPACES = st.sampled_from(["", " ", "  ", "\n", "\t", "\u00a0", "\u3000", "\r\n"])
WORDS = st.sampled_from(
    ["Well", "no", "two", "3", "é", "且", "ラ", "다", ".", ",", "“", "”", "(", ")"]
)
TATTERS = st.sampled_from(["[", "]", "[la", "ugh]", "[clear", "throat]", "[yawn]", "[]", "laugh"])


@st.composite
def written_cues(draw: st.DrawFn) -> str:
    """A cue as somebody may write it."""
    words = draw(st.sampled_from(CUES)).split()
    shouted = [word.upper() if draw(st.booleans()) else word for word in words]
    between = draw(SPACES.filter(bool))
    return f"[{draw(SPACES)}{between.join(shouted)}{draw(SPACES)}]"


TEXTS = st.lists(SPACES | WORDS | TATTERS | written_cues(), max_size=12).map("".join)
CLAIMS = st.sets(st.sampled_from(CUES))


def cues_of(text: str) -> list[str]:
    return [placed.cue for placed in find_cues(text)]


@pytest.mark.contract("d.cues.matching")
@pytest.mark.parametrize(
    ("written", "cue"),
    [(f"[{cue}]", cue) for cue in CUES]
    + [
        ("[LAUGH]", "laugh"),
        ("[ Sigh\t]", "sigh"),
        ("[Clear  Throat]", "clear throat"),
        ("[clear\nthroat]", "clear throat"),
        ("[clear\u00a0throat]", "clear throat"),
        ("[[laugh]", "laugh"),
    ],
)
def test_a_cue_is_found_whatever_its_case_and_inner_white_space(written: str, cue: str) -> None:
    (placed,) = find_cues(f"a {written} b")
    assert placed.cue == cue
    assert f"a {written} b"[placed.start : placed.end].endswith(written.lstrip("[")[-4:])


@pytest.mark.contract("d.cues.other-brackets")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "laugh",
        "[yawn]",
        "[laughs]",
        "[laugh",
        "laugh]",
        "(laugh)",
        "<laugh>",
        "[clearthroat]",
        "[la ugh]",
        "[]",
        "[ ]",
        "[1]",
        "[laugh sigh]",
        "[ſigh]",
        "[sıgh]",
        "[chuc\u212ale]",
        "［laugh］",
        "[laugh\u200b]",
    ],
    ids=ascii,
)
def test_other_bracketed_text_is_text(text: str) -> None:
    assert cues_of(text) == []
    assert strip_cues(text, ()) == text


@pytest.mark.contract("5.cues.gap")
@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("word [laugh] word", "word word"),
        ("word [laugh]word", "word word"),
        ("word[laugh] word", "word word"),
        ("word[laugh]word", "word word"),
        ("word [laugh] [sigh] word", "word word"),
        ("word[laugh][sigh]word", "word word"),
        ("[laugh] word", "word"),
        ("word [laugh]", "word"),
        ("  [laugh]  ", ""),
        ("[laugh]", ""),
        ("[laugh] [sigh]", ""),
        ("word [laugh].", "word."),
        ("word [laugh] .", "word ."),
        ("word [laugh], then", "word, then"),
        ("word [laugh]… then", "word… then"),
        ("“[laugh] Well”", "“Well”"),
        ("“Well [laugh]”", "“Well”"),
        ("“ [laugh] Well", "“ Well"),
        ("([laugh])", "()"),
        ("word [laugh] ’tis", "word ’tis"),
        ("sagt [laugh] »ja«", "sagt »ja«"),
        ("one  two [laugh] three", "one  two three"),
        ("one  [laugh] two", "one  two"),
        ("one\n[laugh]\ntwo", "one\ntwo"),
        ("one\n\n[laugh] two", "one\n\ntwo"),
        ("one\n[laugh]  two", "one\ntwo"),
        ("one\n[laugh]\n[sigh] two", "one\ntwo"),
        ("且[laugh]慢", "且慢"),
        ("且 [laugh] 慢", "且 慢"),
        ("네[laugh]좋아", "네 좋아"),
        ("है[laugh]अब", "है अब"),
        ("e\u0301[laugh]two", "e\u0301 two"),
        ("Hm.[laugh]Well", "Hm.Well"),
        ("[[laugh]laugh] a", "a"),
        ("a [clear[laugh]throat] b", "a b"),
        ("[[[laugh]sigh] groan]", ""),
        ("[yawn [laugh] ] b", "[yawn ] b"),
    ],
)
def test_an_unclaimed_cue_goes_and_its_gap_closes(text: str, rest: str) -> None:
    assert strip_cues(text, ()) == rest


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a [laugh] b", "a [laugh] b"),
        ("a [LAUGH]b [sigh] c", "a [LAUGH]b c"),
        ("a [ Clear  Throat ] [sigh]", "a [ Clear  Throat ]"),
        ("[sigh][laugh]", "[laugh]"),
        ("[[sigh]laugh]", "[laugh]"),
    ],
)
def test_a_claimed_cue_stays_as_it_was_written(text: str, rest: str) -> None:
    assert strip_cues(text, ("laugh", "clear throat")) == rest


@given(TEXTS, CLAIMS)
@example("[clear[laugh]throat]", set())
def test_no_unclaimed_cue_is_left_and_no_claimed_one_lost(text: str, claimed: set[str]) -> None:
    left = cues_of(strip_cues(text, claimed))
    assert set(left) <= claimed
    kept = iter(left)
    assert all(cue in kept for cue in cues_of(text) if cue in claimed)


@given(TEXTS, CLAIMS)
def test_taking_cues_out_twice_is_taking_them_out_once(text: str, claimed: set[str]) -> None:
    once = strip_cues(text, claimed)
    assert strip_cues(once, claimed) == once


@given(TEXTS, CLAIMS)
def test_a_text_with_nothing_to_take_out_comes_back_identical(text: str, claimed: set[str]) -> None:
    if set(cues_of(text)) <= claimed:
        assert strip_cues(text, claimed) is text


@given(TEXTS, CLAIMS)
def test_no_white_space_appears_that_was_not_there(text: str, claimed: set[str]) -> None:
    runs = re.findall(r"\s+", strip_cues(text, claimed))
    assert all(run == " " or run in text for run in runs)


@given(st.lists(st.tuples(st.sampled_from(["ab", "Ω", "é", "3", "다", "है"]), SPACES, SPACES)))
def test_two_words_never_become_one(parts: list[tuple[str, str, str]]) -> None:
    text = "".join(f"{word}{before}[laugh]{after}" for word, before, after in parts)
    assert strip_cues(text, ()).split() == [word for word, _, _ in parts]


@given(TEXTS, CLAIMS)
def test_nothing_but_cues_and_white_space_is_lost(text: str, claimed: set[str]) -> None:
    def letters(some: str) -> str:
        dense = re.sub(r"\s", "", some)
        while (fewer := re.sub(cue, "", dense)) != dense:
            dense = fewer
        return dense

    cue = r"(?ai)\[(" + "|".join(CUES).replace(" ", "") + r")\]"
    assert letters(strip_cues(text, claimed)) == letters(text)


@given(
    st.text(alphabet=st.characters(exclude_categories=())) | st.text(alphabet="[] laughclertosi\n"),
    CLAIMS,
)
def test_no_text_makes_the_search_for_cues_fail(text: str, claimed: set[str]) -> None:
    strip_cues(text, claimed)
    is_speakable(text, claimed)


@pytest.mark.timeout(30)  # Quadratic work on a million characters takes hours.
@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        "]" * 1_000_000,
        "[" + " " * 1_000_000,
        "[clear" + " " * 1_000_000,
        "[laugh" + " " * 1_000_000,
        "[clear " * 150_000,
        "[laugh" * 150_000,
        "word[laugh]" * 25_000,
        " [laugh] " * 25_000,
        "[" * 50_000 + "laugh]" * 50_000,
        "[" * 100_000 + "[laugh]" + " ]" * 50_000,
        "[clear" + "[laugh] " * 30_000 + "throat]",
        " " * 200_000 + "[laugh]" * 20_000,
    ],
    ids=lambda text: f"{text[:12]!r}",
)
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    assert cues_of(strip_cues(text, ())) == []
    is_speakable(text, ())


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "Ünïcode",
        "7",
        "½",
        "٣",
        "①",
        "عربي",
        "हिन्दी",
        "日本",
        "한국",
        "ไทย",
        "Ελλ",
        "1\ufe0f\u20e3",
        "… a",
        "[yawn]",
        "[laugh] a",
        "[laughs]",
    ],
    ids=ascii,
)
def test_a_letter_or_a_digit_of_any_script_is_speakable(text: str) -> None:
    assert is_speakable(text, ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\t\u00a0\u3000",
        "\u200b\u200d\ufeff\u2060",
        "...",
        "?!…—",
        "“”",
        "😀",
        "👩‍👩‍👧",
        "🇫🇷",
        "\u0301\u0308",
        "[]",
        "$€",
        "\u2800",
        "\u3164\u115f",
        "\0\x1b",
        "\u202e",
        "\ue000",
        "[laugh]",
        "[clear throat] …",
        "[[laugh]laugh]",
        "[sigh][GROAN]",
    ],
    ids=ascii,
)
def test_what_holds_neither_is_not(text: str) -> None:
    assert not is_speakable(text, ())


@pytest.mark.parametrize("cue", CUES)
def test_a_cue_is_speakable_exactly_where_it_is_claimed(cue: str) -> None:
    assert is_speakable(f"… [{cue.upper()}]", [cue])
    assert not is_speakable(f"… [{cue}]", set(CUES) - {cue})


@given(TEXTS, CLAIMS)
def test_a_text_is_as_speakable_as_what_is_left_of_it(text: str, claimed: set[str]) -> None:
    assert is_speakable(text, claimed) == is_speakable(strip_cues(text, claimed), claimed)
