"""What holds for every text: nothing is lost, reordered, torn or too long."""

import re
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rhapsode_contract import find_cues
from rhapsode_worker.segmenting import Segment, split

SENTENCES = [
    "The quick brown fox, they say, jumps over the lazy dog.",
    "Dr. J. R. Smith paid $1,234.50 at 9 a.m. (see https://a.example.com/x?y=1.2).",
    "He said: “Stop! It’s the dogs’ bowl,” and ran—well—away…",
    "Am 3. Mai kam Dr. Müller, z. B. mit „Komm her!“, zu spät.",
    "« Oui », dit-il ; ça va ?",
    "¿Qué tal? ¡Muy bien, Sr. López!",
    "Привет, как дела? Всё хорошо — спасибо.",
    "Τι κάνεις; Είμαι καλά, εσύ;",
    "كيف حالك؟ أنا بخير، شكرا؛ إلى اللقاء.",
    "מה שלומך? טוב, תודה.",
    "नमस्ते। आप कैसे हैं? मैं ठीक हूँ॥",
    "今天天气很好，我们去公园吧。“走吧！”他说：好的……",
    "彼は「行こう。」と言った。スーパーマーケットでコーヒーを、ちょっと飲んだ。",
    "안녕하세요. 오늘 날씨가 좋네요! 그렇죠?",
    "สวัสดีครับ วันนี้อากาศดีมาก เราไปเดินเล่นในสวนกันเถอะ",
    "မင်္ဂလာပါ။ နေကောင်းလား၊ ကောင်းပါတယ်။",
    "សួស្តី។ តើអ្នកសុខសប្បាយទេ?",
    "ສະບາຍດີ ຂ້ອຍຊື່ແກ້ວ",
    "Բարեւ։ Ինչպե՞ս ես, լավ եմ։",
    "ሰላም። እንዴት ነህ፧ ደህና፣ ነኝ።",
    "བཀྲ་ཤིས་བདེ་ལེགས། ཁྱེད་རང་",
]
CUES = ["[laugh]", "[Clear  Throat]", "[ sigh ]", "[gasp]."]
NOISE = [
    *".,;:!?…—-–()[]{}\"'“”‘’„«»「」。、！？ー\u0301\u200d\u200b\ufe0f\u00a0\u3000 \n\n\n",
    "a",
    "B",
    "7",
    "中",
    "っ",
    "ก",
    "เ",
    "ิ",
    "က",
    "်",
    "ក",
    "្",
    "한",
    "é",
    "👍🏽",
    "\r\n",
    "1.",
    "x@y.z",
]

LINES = st.sampled_from(SENTENCES)
BITS = st.one_of(
    LINES,
    st.tuples(LINES, st.integers(0, 30), st.integers(1, 30)).map(
        lambda c: c[0][c[1] : c[1] + c[2]]
    ),
    st.sampled_from(CUES),
    st.sampled_from(NOISE),
    st.text(max_size=6),
)
TEXTS = st.lists(st.tuples(BITS, st.sampled_from(["", " ", " ", "\n"])), max_size=14).map(
    lambda bits: "".join(bit + space for bit, space in bits)
)
LIMITS = st.one_of(st.integers(1, 12), st.integers(12, 80), st.integers(80, 400))
FIRST_LIMITS = st.one_of(st.none(), LIMITS)
LANGUAGES = st.sampled_from([None, "en", "de", "fr", "ja", "zh", "th", "el", "hi", "ar", "xx"])


def cost(text: str) -> int:
    return len(text) - sum(cue.end - cue.start - 1 for cue in find_cues(text))


def places(text: str, segments: tuple[Segment, ...]) -> list[tuple[int, int]]:
    """Where each segment lies in `text`, white space alone between them."""
    found: list[tuple[int, int]] = []
    at = 0
    for segment in segments:
        while text[at].isspace():
            at += 1
        assert text.startswith(segment.text, at)
        found.append((at, at + len(segment.text)))
        at += len(segment.text)
    assert not text[at:].strip()
    return found


def is_one_word(text: str) -> bool:
    """Whether no white space in `text` has something to say on both sides."""
    filled = text
    for cue in find_cues(text):
        filled = filled[: cue.start] + "c" * (cue.end - cue.start) + filled[cue.end :]
    return sum(re.search(r"[^\W_]", word) is not None for word in filled.split()) <= 1


def letters_that_may_part(text: str) -> int:
    """Clusters of scripts without spaces in `text`, each of which could begin a piece."""
    return sum(
        unicodedata.category(letter) == "Lo"
        and re.match("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u4e00-\u9fff]", letter)
        is not None
        for letter in text
    )


@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS, FIRST_LIMITS, LANGUAGES)
@example("[laugh]" * 9, 2, None, None)
@example("“" * 50 + "a. B", 3, 2, "en")
def test_the_pieces_are_the_text_but_for_white_space_and_nothing_is_torn(
    text: str, limit: int, first_limit: int | None, language: str | None
) -> None:
    segments = split(text, limit, first_limit=first_limit, language=language)
    found = places(text, segments)
    for (_, end), (start, _) in zip(found, found[1:], strict=False):
        # A mark, a joiner or its neighbour, a stacked consonant: one letter to a reader.
        assert start > end or unicodedata.category(text[start])[0] != "M"
        assert start > end or (
            text[start] != "\u200d" and text[start - 1] not in "\u200d\u17d2\u1039"
        )
    for cue in find_cues(text):
        assert sum(start <= cue.start and cue.end <= end for start, end in found) == 1


@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS, FIRST_LIMITS, LANGUAGES)
def test_every_piece_has_something_to_say_and_no_orphan_at_an_end(
    text: str, limit: int, first_limit: int | None, language: str | None
) -> None:
    segments = split(text, limit, first_limit=first_limit, language=language)
    assert [segment.index for segment in segments] == list(range(len(segments)))
    for before, after in zip(segments, segments[1:], strict=False):
        assert before.after is after.before is not None
    if len(segments) > 1:
        for segment in segments:
            assert segment.text == segment.text.strip()
            assert re.search(r"[^\W_]", segment.text)
    for before, after in zip(segments, segments[1:], strict=False):
        if re.search(r"\s", text):
            assert not re.fullmatch(r"[)\]}”」』。、！？，：；.,!?]+", after.text.split()[0])
        assert not re.fullmatch(r"[(\[{“「『«„]+", before.text.split()[-1])


@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS, FIRST_LIMITS, LANGUAGES)
def test_a_piece_over_its_limit_is_one_word(
    text: str, limit: int, first_limit: int | None, language: str | None
) -> None:
    segments = split(text, limit, first_limit=first_limit, language=language)
    allowed = limit
    for segment in segments:
        if cost(segment.text) > allowed and not is_one_word(segment.text):
            raise AssertionError((segment.text, allowed))
        if first_limit is not None:
            allowed = min(limit, 2 * cost(segment.text))


@settings(max_examples=300, deadline=None)
@given(TEXTS, LANGUAGES)
def test_a_text_that_fits_is_one_segment_as_it_is(text: str, language: str | None) -> None:
    stripped = text.strip()
    for first_limit in (None, max(1, cost(stripped))):
        segments = split(text, max(1, cost(stripped)), first_limit=first_limit, language=language)
        assert [segment.text for segment in segments] == ([stripped] if stripped else [])


@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS, LANGUAGES)
def test_a_segment_is_not_split_again(text: str, limit: int, language: str | None) -> None:
    for segment in split(text, limit, language=language):
        if cost(segment.text) <= limit:
            assert [piece.text for piece in split(segment.text, limit)] == [segment.text]


@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS, LANGUAGES)
def test_two_neighbours_never_fit_in_one_segment(
    text: str, limit: int, language: str | None
) -> None:
    found = places(text, segments := split(text, limit, language=language))
    for at in range(len(segments) - 1):
        assert cost(text[found[at][0] : found[at + 1][1]]) > limit


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SENTENCES), LIMITS, FIRST_LIMITS)
def test_a_sentence_of_an_unspaced_script_keeps_to_its_limit(
    sentence: str, limit: int, first_limit: int | None
) -> None:
    if letters_that_may_part(sentence) < len(sentence) / 2:
        return
    segments = split(sentence * 5, limit + 12, first_limit=first_limit)
    assert all(len(segment.text) <= limit + 12 for segment in segments)
