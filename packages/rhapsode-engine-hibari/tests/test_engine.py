"""The engine with its real model."""

import math
from array import array
from collections.abc import Iterator

import pytest
from rhapsode_contract import BadRequest, UnknownVoice
from rhapsode_engine_hibari import HibariEngine
from rhapsode_engine_hibari.engine import VARIANT
from rhapsode_worker.reading import breaths_of
from rhapsode_worker.requests import SpeakRequest

SENTENCE = "The birch canoe slid on the smooth planks."


@pytest.fixture(scope="module")
def engine() -> Iterator[HibariEngine]:
    engine = HibariEngine()
    engine.load(VARIANT)
    yield engine
    engine.unload()


def say(
    engine: HibariEngine, text: str, *, seed: int | None = 1, speed: float = 1.0
) -> "array[int]":
    request = SpeakRequest(text, VARIANT, params={"speed": speed}, seed=seed)
    return array("h", b"".join(engine.speak(request)))


def seconds(samples: "array[int]") -> float:
    return len(samples) / 24_000


def loudness_db(samples: "array[int]") -> float:
    """Root mean square, 0 being full scale."""
    return 20 * math.log10(math.sqrt(sum(v * v for v in samples) / len(samples)) / 32_768)


def test_it_speaks_at_a_speaking_pace_and_level(engine: HibariEngine) -> None:
    spoken = say(engine, SENTENCE)
    assert 2.0 < seconds(spoken) < 4.0
    assert -23 < loudness_db(spoken) < -17
    assert max(abs(v) for v in spoken) < 32_000


def test_speech_begins_at_once(engine: HibariEngine) -> None:
    spoken = say(engine, SENTENCE)
    first = next(at for at, value in enumerate(spoken) if abs(value) > 300)
    assert first / 24_000 < 0.1


def test_a_seed_repeats_and_another_differs(engine: HibariEngine) -> None:
    assert say(engine, SENTENCE, seed=5) == say(engine, SENTENCE, seed=5)
    assert say(engine, SENTENCE, seed=5) != say(engine, SENTENCE, seed=6)
    assert say(engine, SENTENCE, seed=None) != say(engine, SENTENCE, seed=None)


@pytest.mark.parametrize("seed", [0, -1, 2**63 - 1, -(2**63), 2**64 - 1])
def test_any_64_bit_seed_is_one(engine: HibariEngine, seed: int) -> None:
    assert len(say(engine, "Hi.", seed=seed))


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE,
        "Hello.",
        "Good evening.",
        "Right, that was the news.",
        "It is going to rain.",
        "First this. Then that. And then a third thing happened.",
        "It is good to hear you. This is the second sentence, and it goes on.",
        "The quick brown fox jumps over the lazy dog. The dog does not mind.",
    ],
)
def test_speed_stretches_and_squeezes(engine: HibariEngine, text: str) -> None:
    """Case 35: within a tenth."""
    ordinary = seconds(say(engine, text))
    for speed in (0.5, 1.5, 2.0):
        duration = seconds(say(engine, text, speed=speed))
        assert duration == pytest.approx(ordinary / speed, rel=0.1)


def test_the_first_sentence_is_heard_before_the_last_is_made(engine: HibariEngine) -> None:
    alone = b"".join(engine.speak(SpeakRequest("Yes.", VARIANT, seed=1)))
    speech = engine.speak(SpeakRequest("Yes. " + SENTENCE * 20, VARIANT, seed=1))
    assert next(speech) == alone


@pytest.mark.contract("8.split.declared")
def test_how_much_it_makes_at_once_is_declared(engine: HibariEngine) -> None:
    declared = engine.variants()[VARIANT]
    longest = max(breaths_of("ə " * 1000), key=lambda breath: len(breath.phonemes))
    assert declared.segment_characters == pytest.approx(len(longest.phonemes), abs=1)
    assert declared.has_own_loop  # one stream of noise goes through all of it


def test_two_sentences_last_as_long_as_both(engine: HibariEngine) -> None:
    both = seconds(say(engine, f"{SENTENCE} {SENTENCE}"))
    assert both == pytest.approx(2 * seconds(say(engine, SENTENCE)), rel=0.01)


@pytest.mark.contract("5.cues.foreign-tags")
def test_phonemes_cannot_be_slipped_in(engine: HibariEngine) -> None:
    assert say(engine, "[banana](/həlˈO/) bread.") == say(engine, "banana bread.")
    assert say(engine, "&#91;banana](/həlˈO/) bread.") != say(engine, "hello bread.")


def test_tags_are_not_read(engine: HibariEngine) -> None:
    assert say(engine, f"<speak>{SENTENCE}</speak>") == say(engine, SENTENCE)


@pytest.mark.parametrize(
    "text",
    ["你好，世界。", "Здравствуйте! Как дела?", "Γειά σου κόσμε", "🙂", "<b></b>", "?!", "..."],
)
def test_what_cannot_be_pronounced_is_refused_by_name(engine: HibariEngine, text: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        say(engine, text)
    assert refusal.value.field == "text"


def test_a_sentence_without_words_among_others_is_silent(engine: HibariEngine) -> None:
    assert say(engine, f"🙂 {SENTENCE}\n\n你好。 Привет.") == say(engine, SENTENCE)


@pytest.mark.parametrize(
    "text",
    ["9" * 300, "1," * 200, "10⁷", "①②③", "²³", "a" * 500, "x\x00y", "\ufeffHi",
     "ﬁne naïve Łódź", "1/2/3/4/5", "$1,250.75 at 25:61", "hi Привет", "٣٤"],
)  # fmt: skip
def test_odd_text_is_spoken_and_breaks_nothing(engine: HibariEngine, text: str) -> None:
    assert seconds(say(engine, text)) > 0.2


def test_every_digit_of_a_long_number_is_said(engine: HibariEngine) -> None:
    short, long = say(engine, "1" * 20), say(engine, "1" * 40)
    assert seconds(long) == pytest.approx(2 * seconds(short), rel=0.25)


def test_every_letter_of_a_long_word_is_said(engine: HibariEngine) -> None:
    assert seconds(say(engine, "bodaluna" * 5)) > 1.5 * seconds(say(engine, "bodaluna" * 2))


@pytest.mark.contract("7.unknown.no-substitute")
def test_a_voice_that_is_not_here_is_unknown(engine: HibariEngine) -> None:
    with pytest.raises(UnknownVoice):
        next(engine.speak(SpeakRequest("Hi.", VARIANT, voice="alloy")))


def test_the_language_may_be_named_broadly_or_narrowly(engine: HibariEngine) -> None:
    assert engine.variants()[VARIANT].languages == ("en", "en-US")
    spoken = [
        b"".join(engine.speak(SpeakRequest("Hi.", VARIANT, language=language, seed=1)))
        for language in ("en", "en-US", None)
    ]
    assert spoken[0] == spoken[1] == spoken[2]


def test_it_speaks_again_after_an_unload_and_a_load() -> None:
    engine = HibariEngine()
    engine.unload()
    engine.load(VARIANT)
    before = say(engine, "Hi.")
    engine.unload()
    engine.load(VARIANT)
    assert say(engine, "Hi.") == before
