"""Sentences of fifteen languages end where their readers end them."""

import sys

import pytest
from rhapsode_worker.segmenting import Joint, sentences, split

BLANKS = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]

SENTENCES = {
    "en": ["Mr. Jones paid 5.50 dollars.", "“Too much,” he said.", "So we left at 5 p.m. sharp."],
    "de": ["Am 3. Mai kam Dr. Müller z.B. zu spät.", "„Komm her!“", "Er ging."],
    "fr": ["M. Dupont est là.", "Ça va ?", "« Oui », dit-il."],
    "es": ["¿Qué tal está el Sr. López?", "¡Muy bien!", "Nos vemos mañana."],
    "ru": ["Привет.", "Как дела?", "Всё хорошо, спасибо!"],
    "el": ["Τι κάνεις;", "Είμαι καλά.", "Εσύ;"],
    "ar": ["كيف حالك؟", "أنا بخير، شكرا.", "إلى اللقاء!"],
    "he": ["מה שלומך?", "טוב, תודה.", "להתראות!"],
    "hi": ["नमस्ते।", "आप कैसे हैं?", "मैं ठीक हूँ।"],
    "zh": ["今天天气很好，我们去公园吧。", "好啊！", "“走吧。”"],
    "ja": ["「行こう。」と言った。", "はい！", "スーパーの前でお茶を飲んだ。"],
    "ko": ["안녕하세요.", "오늘 날씨가 좋네요!", "그렇죠?"],
    "hy": ["Բարեւ։", "Ինչպե՞ս ես։", "Լավ եմ։"],
    "am": ["ሰላም።", "እንዴት ነህ፧", "ደህና ነኝ።"],
    "my": ["မင်္ဂလာပါ။", "နေကောင်းလား။", "ကောင်းပါတယ်။"],
    "km": ["សួស្តី។", "សុខសប្បាយទេ។", "បាទ។"],
}
UNSPACED = {"zh", "ja", "my", "km"}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_language_has_its_sentences(language: str) -> None:
    sentences = SENTENCES[language]
    text = ("" if language in UNSPACED else " ").join(sentences)
    # No two of them fit, and each does.
    segments = split(text, max(map(len, sentences)), language=language)
    packed = "|".join(segment.text for segment in segments)
    assert all(segment.after in {Joint.SENTENCE, None} for segment in segments)
    assert sorted(packed.replace("|", "").replace(" ", "")) == sorted(text.replace(" ", ""))
    for sentence in sentences:
        assert sum(sentence in segment.text for segment in segments) == 1


@pytest.mark.parametrize("language", ["de", "de-AT", "DE", "de_ch"])
def test_a_tag_with_a_region_or_capitals_is_its_language(language: str) -> None:
    segments = split("Er kam am 3. Mai zu uns.", 17, language=language)
    assert [segment.after for segment in segments] == [Joint.WORD, None]


@pytest.mark.parametrize("language", [None, "", "fr", "xx", "nonsense!", "zxx-Latn"])
def test_no_language_parts_a_title_or_an_initial_from_its_name(language: str | None) -> None:
    text = "They met M. Dupont."
    assert [segment.text for segment in split(text, 18, language=language)] == [
        "They met",
        "M. Dupont.",
    ]


def test_thai_is_cut_at_its_spaces_first() -> None:
    text = "สวัสดีครับ วันนี้อากาศดีมาก ผมชอบเดินเล่น"
    segments = split(text, 18, language="th")
    assert [segment.text for segment in segments] == text.split()
    assert [segment.after for segment in segments] == [Joint.CLAUSE, Joint.CLAUSE, None]


def test_a_thai_word_is_cut_before_a_vowel_that_begins_a_syllable() -> None:
    assert split("ผมชอบเดินเล่นในสวน", 12, language="th")[0].text == "ผมชอบเดิน"


def test_japanese_is_cut_after_a_particle_rather_than_in_a_word() -> None:
    segments = split("駅前の図書館で本を読んだ", 8, language="ja")
    assert [segment.text for segment in segments] == ["駅前の図書館で", "本を読んだ"]
    # The prefix of politeness is no particle.
    assert split("母の熱いお茶を", 5, language="ja")[0].text == "母の"


def test_a_single_latin_letter_stays_with_the_han_after_it() -> None:
    assert [segment.text for segment in split("我们买A股吧", 4)] == ["我们买", "A股吧"]
    assert [segment.text for segment in split("我们用Python编程", 9)] == ["我们用Python", "编程"]


def test_no_kana_that_hangs_on_another_begins_a_piece() -> None:
    for limit in range(1, 12):
        for segment in split("チョコレートケーキキャッチャー", limit, language="ja"):
            assert segment.text[0] not in "ョーャッ"


def test_sentences_in_lower_case_are_sentences_where_nothing_is_in_capitals() -> None:
    segments = split("hello there. how are you? i am fine.", 13)
    assert [segment.text for segment in segments] == ["hello there.", "how are you?", "i am fine."]
    assert segments[0].after is Joint.SENTENCE
    # An abbreviation that the language has not told of.
    assert split("It was approx. five. So.", 14, language="xx")[0].after is not Joint.SENTENCE


def test_a_line_that_goes_on_in_lower_case_was_wrapped() -> None:
    assert split("The first line\nof a sentence", 14)[0].after is Joint.WORD
    assert split("A title of it\nThe text", 14)[0].after is Joint.CLAUSE
    assert split("A title of it\n\nthe text", 14)[0].after is Joint.SENTENCE


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_a_blank_of_several_bytes_before_a_full_stop_is_one(blank: str) -> None:
    # sentencex 1.0.32 panics on these: it counts one byte back from the full stop.
    text = f"Who am I{blank}.é Nobody at all knows it."
    pieces = [segment.text for segment in split(text, 12)]
    assert "".join("".join(pieces).split()) == "WhoamI.éNobodyatallknowsit."
    assert pieces[-2:] == ["all knows", "it."]


class PanicException(BaseException):
    """As PyO3 names a panic; no `Exception`."""


def test_a_panic_of_the_segmenter_costs_sentence_ends_and_no_speech(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def panic(language: str, text: str) -> list[str]:
        raise PanicException("end byte index 2 is not a char boundary")

    monkeypatch.setattr(sentences, "_segment", panic)
    pieces = [segment.text for segment in split("They went home. He came too.", 15)]
    assert " ".join(pieces) == "They went home. He came too."
    assert "not a char boundary" in caplog.text
