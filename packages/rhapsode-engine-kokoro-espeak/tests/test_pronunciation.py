"""From sentences to phonemes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_engine_kokoro.alphabet import NUMBERS
from rhapsode_engine_kokoro_espeak.pronunciation import VOICES, Pronunciation
from rhapsode_worker.reading import sentences_of

SPANISH = Pronunciation("es")


@pytest.mark.parametrize(
    ("language", "sentence", "phonemes"),
    [
        ("es", "La guitarra suena bien.", "la ɣitˈara swˈena βjˈen."),
        ("fr", "Bonjour ! Ça va ?", "bɔ̃ʒˈuʁ! sa vˈa?"),
        ("it", "Pizza, ragazzi.", "pˈiʦːa, raɡˈaʦːɪ."),
        ("pt-BR", "Não é?", "nˌɐ̃ʊ̃ ɛ?"),
        ("hi", "नमस्ते।", "nəmˈʌsteː."),
    ],
)
def test_each_language_is_said_in_the_models_alphabet(
    language: str, sentence: str, phonemes: str
) -> None:
    assert Pronunciation(language).phonemes_of(sentence) == phonemes


@pytest.mark.parametrize(
    ("sentence", "marks"),
    [
        ("¿Vienes, Ana? ¡Sí!", ",?!"),
        ("Uno; dos: tres…", ";:…"),
        ("Espera... ya voy.", "….",),
        ("«Hola», dijo (en voz baja).", "“”,()."),
        ("La casa – la grande - es mía.", "——."),
        ("No hay marca", ""),
    ],
)  # fmt: skip
def test_punctuation_is_kept_for_the_melody(sentence: str, marks: str) -> None:
    said = SPANISH.phonemes_of(sentence)
    assert "".join(character for character in said if character in '—…,;:.!?()“”"') == marks


def test_a_comma_within_a_number_and_a_colon_within_a_time_are_read() -> None:
    assert "kom" in SPANISH.phonemes_of("Pesa 3,50 kilos")
    assert ":" not in SPANISH.phonemes_of("A las 10:30")
    assert "dosθjˈentos" in SPANISH.phonemes_of("1.250 personas")


def test_a_stop_within_a_sentence_is_an_abbreviations() -> None:
    assert SPANISH.phonemes_of("El Sr. Pérez vive aquí.") == "el seɲˈoɾ pˈeɾeθ βˈiβe akˈi."


def test_a_word_of_another_language_leaves_no_remark_of_it() -> None:
    said = Pronunciation("fr").phonemes_of("un parking (cher)")
    assert said.count("(") == 1
    assert "en" not in said


@pytest.mark.parametrize("sentence", ["", "?!", "🙂", "☎ 👍🏽", "…", "   "])
def test_what_has_no_sound_has_no_phonemes(sentence: str) -> None:
    assert SPANISH.phonemes_of(sentence) == ""


@pytest.mark.parametrize("language", [*VOICES])
@pytest.mark.parametrize(
    "sentence", ["a." * 400, "ϖ", "\u0329p\u0361", "．" * 90, "s'" * 220, "₹-नम"]
)
def test_what_espeak_would_break_at_does_not_get_to_it(language: str, sentence: str) -> None:
    Pronunciation(language).phonemes_of(sentence)


def test_a_picture_is_not_named() -> None:
    assert SPANISH.phonemes_of("Hola 🙂 mundo") == SPANISH.phonemes_of("Hola mundo")
    assert "ɡɾˈaðos" in SPANISH.phonemes_of("20 °C").replace("ɣ", "ɡ")


@given(st.text(max_size=80), st.sampled_from([*VOICES]))
def test_whatever_comes_is_said_in_the_models_alphabet(text: str, language: str) -> None:
    pronunciation = Pronunciation(language)
    for sentence in sentences_of(text, language.partition("-")[0]):
        said = pronunciation.phonemes_of(sentence)
        assert set(said) <= NUMBERS.keys()
        assert said == said.strip()


@pytest.mark.parametrize("unit", ["(", ". ", "a.", " -", "- ", ",", "“ ", "a,1", "।", "a "])
def test_a_hostile_sentence_is_read_in_reasonable_time(unit: str) -> None:
    # The suite's own limit of time is the assertion: a quadratic rule takes minutes here.
    SPANISH.phonemes_of((unit * 20_000)[:20_000])
