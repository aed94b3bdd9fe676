"""Voice ids: an id becomes a file's name (contract § 7)."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rhapsode_contract import BadRequest, check_voice_id


@pytest.mark.parametrize(
    "voice_id",
    ["a", "A", "0", "narrator_02", "af-heart", "a" * 64, "9_", "a-", "alloy", "con", "en_US-amy"],
)
def test_a_name_is_a_voice_id(voice_id: str) -> None:
    assert check_voice_id(voice_id) == voice_id


REFUSED = [
    "",
    " ",
    "../../x",
    "..",
    ".",
    "..%2f",
    "..\\x",
    "C:\\x",
    "a/b",
    "/a",
    "*",
    "a*",
    "a?",
    "a.wav",
    "a b",
    "a\n",
    "\na",
    "a\r\n",
    "a\0",
    "\0",
    "_a",
    "-a",
    "a" * 65,
    "a" * 300,
    "af_bella(2)+af_sky(1)",
    "٣",
    "a٣",
    "é",
    "aé",
    "ａ",
    "ß",
    "\u212a",
    "名",
    "a\u200b",
    "a\u0301",
    "\ud800",
]


@pytest.mark.parametrize("voice_id", REFUSED, ids=ascii)
def test_anything_else_is_refused_naming_the_field(voice_id: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        check_voice_id(voice_id, "voices.a")
    assert refusal.value.field == "voices.a"
    assert refusal.value.message.startswith("voices.a: ")
    assert len(refusal.value.message) < 250


@settings(max_examples=50)
@given(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=70)
    | st.from_regex(r"[A-Za-z0-9_-]{0,70}")
)
def test_only_what_the_grammar_describes_is_accepted(voice_id: str) -> None:
    is_name = 1 <= len(voice_id) <= 64 and re.fullmatch(r"[a-zA-Z0-9_\-]+", voice_id, re.ASCII)
    is_valid = bool(is_name) and voice_id[0] not in "_-"
    if is_valid:
        assert check_voice_id(voice_id) == voice_id
    else:
        with pytest.raises(BadRequest):
            check_voice_id(voice_id)
