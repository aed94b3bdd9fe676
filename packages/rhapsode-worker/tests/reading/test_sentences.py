"""What the model is given, sentence by sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_worker.reading import sentences_of
from rhapsode_worker.reading.words import MAX_LETTERS

PIECES = [
    "[word](/ɪpə/)", "[a [b](/c/)](/d/)", "&#91;w](/x/)", "&lsqb;w&rsqb;(/x/)", "%5Bw%5D", "[[",
    "](/", "<b>", "</", "`", "**", "_", "~~", "\n", "\n\n", " ", "http://a.b/%5Bx%5D(/y/)", "x@y.z",
    "1" * 40,
    "10⁷", "\u200b", "\x00", "🙂", "你", "'", "&amp;", "<!--", "# ", "- ", "word", ".", "! ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text())
def test_no_text_can_hold_what_the_engine_takes_for_phonemes(text: str) -> None:
    for sentence in sentences_of(text):
        assert "[" not in sentence
        assert "]" not in sentence


@given(st.text())
def test_sentences_are_never_blank_and_no_word_is_too_long(text: str) -> None:
    for sentence in sentences_of(text):
        assert sentence.strip() == sentence != ""
        assert all(len(word) <= MAX_LETTERS for word in sentence.split())


WORDS = st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), min_size=1, max_size=30)


@given(WORDS, st.data())
def test_plain_words_come_through_in_order_whatever_is_between_them(
    words: list[str], data: st.DataObject
) -> None:
    between = st.sampled_from([" ", ", ", ". ", "! ", "\n", "\r\n", "\n\n", "\t", " — ", ": "])
    text = "".join(word + data.draw(between) for word in words)
    said = " ".join(sentences_of(text))
    assert [word.strip(".,!—:") for word in said.split() if word != "—"] == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("<b></b>", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith met the U.S. Army at 3 p.m. Then he slept.",
         ["Dr. Smith met the U.S. Army at 3 p.m.", "Then he slept."]),
        ("The quick brown\nfox jumps.", ["The quick brown fox jumps."]),
        ("Roses are red,\nViolets are blue", ["Roses are red,", "Violets are blue"]),
        ("This line of more than sixty characters was broken to fit into a\nNew York window.",
         ["This line of more than sixty characters was broken to fit into a New York window."]),
        ("co\u00adop\u200b \x00x", ["coop  x"]),
        ("!!!!!!!!", ["!!!"]),
    ],
)  # fmt: skip
def test_a_text_is_split_where_a_reader_would_stop(text: str, sentences: list[str]) -> None:
    assert [sentence.replace("\x00", " ") for sentence in sentences_of(text)] == sentences


@pytest.mark.parametrize(
    "unit", ["<a b='", "[a](", "*a ", "`", "&", "\n ", "<!--", "a-.", "http://", "| -", "_a"]
)
def test_a_hostile_text_is_read_in_reasonable_time(unit: str) -> None:
    # The suite's own limit of time is the assertion: a quadratic rule takes minutes here.
    list(sentences_of((unit * 20_000)[:20_000]))


def test_another_language_keeps_its_numbers_and_addresses_for_its_front_end() -> None:
    assert list(sentences_of("Son 3.10.12. Escribe a x@y.es", "es")) == [
        "Son 3.10.12.",
        "Escribe a x@y.es",
    ]


def test_letters_of_a_languages_own_script_stay_and_no_others() -> None:
    assert list(sentences_of("नमस्ते, 你好।", "hi")) == ["नमस्ते,   ।"]
    assert "".join(sentences_of("hola नमस्ते", "es")) == "hola"
