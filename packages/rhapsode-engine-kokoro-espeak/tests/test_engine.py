"""The adapter: which languages it reads, in which voices."""

from array import array
from dataclasses import replace

import numpy as np
import pytest
from rhapsode_contract import BadRequest, UnknownVoice
from rhapsode_engine_kokoro.styles import ROWS, WIDTH, npy_of
from rhapsode_engine_kokoro_espeak import KokoroEspeakEngine
from rhapsode_worker import NewVoice
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.voicing.recipe import Recipe
from rhapsode_worker.voicing.staging import Staging

# Said in another way in each of the languages.
TEXT = "Table, piano, hotel."


def say(engine: KokoroEspeakEngine, text: str, **fields: object) -> "array[int]":
    request = replace(SpeakRequest(text, "fp16", language="mul"), **fields)  # type: ignore[arg-type]  # by name
    return array("h", b"".join(engine.speak(request)))


def tags_of(engine: KokoroEspeakEngine) -> dict[str, tuple[str, ...]]:
    return {voice.id: voice.tags or () for voice in engine.voices()}


@pytest.mark.contract("7.voices.listed")
def test_the_voices_of_every_language_with_a_front_end_are_listed_and_of_no_other(
    engine: KokoroEspeakEngine,
) -> None:
    languages = [tags[0] for tags in tags_of(engine).values()]
    counted = {language: languages.count(language) for language in languages}
    assert counted == {
        "en-US": 20, "en-GB": 8, "es": 3, "fr": 1, "hi": 4, "it": 2, "pt-BR": 3,
    }  # fmt: skip
    assert next(iter(tags_of(engine))) == "af_heart"


def test_those_languages_are_what_it_claims(engine: KokoroEspeakEngine) -> None:
    claimed = ("mul", "en", "en-US", "en-GB", "es", "fr", "hi", "it", "pt-BR")
    assert engine.variants()["fp16"].languages == claimed


@pytest.mark.parametrize(
    ("voice", "language"),
    [
        ("af_heart", "en-US"), ("bf_emma", "en-GB"), ("ef_dora", "es"), ("ff_siwis", "fr"),
        ("if_sara", "it"), ("pm_alex", "pt-BR"), ("hf_alpha", "hi"),
    ],
)  # fmt: skip
def test_a_voice_reads_its_own_language_unless_told(
    engine: KokoroEspeakEngine, voice: str, language: str
) -> None:
    said = say(engine, TEXT, voice=voice)
    assert said == say(engine, TEXT, voice=voice, language=language)
    other = "fr" if language != "fr" else "es"
    assert said != say(engine, TEXT, voice=voice, language=other)


@pytest.mark.contract("6.language.chosen")
def test_a_language_without_a_voice_takes_the_first_that_speaks_it(
    engine: KokoroEspeakEngine,
) -> None:
    assert say(engine, TEXT, language="it") == say(engine, TEXT, language="it", voice="if_sara")
    assert say(engine, TEXT) == say(engine, TEXT, language="en-US", voice="af_heart")


def test_english_is_the_voices_own_where_it_has_one(engine: KokoroEspeakEngine) -> None:
    text = "Schedule."
    for voice, language in {"bf_emma": "en-GB", "af_sky": "en-US", "ef_dora": "en-US"}.items():
        said = say(engine, text, voice=voice, language="en")
        assert said == say(engine, text, voice=voice, language=language)


@pytest.mark.parametrize("voice", ["jf_alpha", "zf_xiaoni", "ef_nobody"])
def test_a_voice_that_is_not_here_is_unknown(engine: KokoroEspeakEngine, voice: str) -> None:
    with pytest.raises(UnknownVoice):
        say(engine, TEXT, voice=voice)


@pytest.mark.parametrize("text", ["你好，世界。", "Здравствуйте!", "नमस्ते", "🙂", "?!", "<b></b>"])
def test_what_spanish_has_no_letters_for_is_refused_and_not_spelled(
    engine: KokoroEspeakEngine, text: str
) -> None:
    with pytest.raises(BadRequest) as refusal:
        say(engine, text, voice="ef_dora")
    assert refusal.value.field == "text"


def test_hindi_has_letters_of_its_own(engine: KokoroEspeakEngine) -> None:
    assert len(say(engine, "नमस्ते।", voice="hf_alpha")) > 4_800
    assert say(engine, "नमस्ते। 你好", voice="hf_alpha") == say(engine, "नमस्ते।", voice="hf_alpha")


@pytest.mark.contract("5.cues.foreign-tags")
@pytest.mark.parametrize(
    ("slipped", "plain"),
    [
        ("[pan](/kˈaza/) blanco.", "pan blanco."),
        ("[[h@l'oU]] mundo.", "((h@l'oU)) mundo."),
        ("&#91;[h@l'oU]] mundo.", "((h@l'oU)) mundo."),
        ('<phoneme ph="kasa">pan</phoneme> blanco.', "pan blanco."),
    ],
)
def test_phonemes_cannot_be_slipped_in(
    engine: KokoroEspeakEngine, slipped: str, plain: str
) -> None:
    assert say(engine, slipped, voice="ef_dora") == say(engine, plain, voice="ef_dora")


def test_a_created_voice_speaks_the_language_of_its_name(engine: KokoroEspeakEngine) -> None:
    styles = np.ones((ROWS, WIDTH), np.float32)
    for name in ("ef_mine", "mine"):
        with Staging(engine.voice_dir).stage("npy") as staged:
            staged.write(npy_of(styles))
            engine.create_voice(NewVoice(name, name, reference=staged))
    tags = tags_of(engine)
    assert (tags["ef_mine"], tags["mine"]) == (("es", "cloned"), ("en-US", "cloned"))
    assert say(engine, TEXT, voice="ef_mine") == say(engine, TEXT, voice="mine", language="es")


def test_a_blend_across_languages_speaks_as_the_part_that_counts_most(
    engine: KokoroEspeakEngine,
) -> None:
    recipe = Recipe.parse("af_heart+if_sara(2)")
    engine.blend_voice(NewVoice("mix", "Mix", blend=recipe))
    assert tags_of(engine)["mix"] == ("it", "blended")


@pytest.mark.parametrize("language", ["es", "fr", "hi", "it", "pt-BR"])
@pytest.mark.parametrize(
    "unit",
    ["9", "1.000,50 ", "a", "St. ", "a@b.es ", "x(", "x - ", "x… ", "$1,250.75 ", "é" * 50 + " "],
)
def test_odd_text_is_spoken_and_breaks_nothing(
    engine: KokoroEspeakEngine, language: str, unit: str
) -> None:
    text = (unit * 400)[:400]
    assert len(say(engine, text, language=language)) > 4_800
