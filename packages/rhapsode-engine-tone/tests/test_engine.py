"""The tone engine: every rule is heard in a spectrum."""

import logging
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import cos, hypot, pi, sin
from pathlib import Path

import pytest
from rhapsode_contract import CUES, Delivery, UnknownVoice, check_voice_id
from rhapsode_engine_tone import ToneEngine
from rhapsode_worker.requests import SpeakRequest

WORD = "a" * 17  # 1.02 s, one tone


def new_tone() -> ToneEngine:
    engine = ToneEngine()
    engine.voice_dir = Path(__file__).with_name("no-voices")
    return engine


@dataclass(frozen=True)
class Asked:
    """A request with the defaults that the SDK would fill in."""

    text: str = WORD
    variant: str = "dialled"
    voice: str | None = None
    language: str | None = None
    delivery: Delivery | None = None
    params: Mapping[str, float] = field(default_factory=dict[str, float])
    seed: int | None = None


def play(asked: Asked) -> bytes:
    engine = new_tone()
    dials = {name: dial[2] for name, dial in engine.variants()[asked.variant].dials.items()}
    request = SpeakRequest(
        text=asked.text,
        variant=asked.variant,
        voice=asked.voice,
        language=asked.language,
        delivery=asked.delivery,
        params=dials | dict(asked.params),
        seed=asked.seed,
    )
    return b"".join(engine.speak(request))


def loudness_at(pcm: bytes, hertz: float, *, rate: int = 24_000, channels: int = 1) -> float:
    """Returns the amplitude of one frequency in the first channel, 1.0 being full scale."""
    samples = array("h", pcm)[::channels]
    step = 2 * pi * hertz / rate
    real = sum(value * cos(step * i) for i, value in enumerate(samples))
    imaginary = sum(value * sin(step * i) for i, value in enumerate(samples))
    return 2 * hypot(real, imaginary) / len(samples) / 32_767


def test_a_text_lasts_as_long_as_its_characters() -> None:
    assert len(play(Asked("Hello, you."))) == 11 * 60 * 24 * 2


def test_the_default_voice_is_the_first_listed() -> None:
    first = new_tone().voices()[0].id
    assert play(Asked()) == play(Asked(voice=first))


@pytest.mark.parametrize(("voice", "hertz"), [("a4", 440), ("a3", 220), ("e5", 659)])
def test_a_voice_is_a_frequency(voice: str, hertz: int) -> None:
    pcm = play(Asked(voice=voice))
    assert loudness_at(pcm, hertz) > 0.4
    assert loudness_at(pcm, hertz * 1.5) < 0.01


@pytest.mark.contract("7.unknown.no-substitute")
def test_a_voice_that_is_not_there_is_unknown_and_not_replaced() -> None:
    with pytest.raises(UnknownVoice):
        play(Asked(voice="alloy"))


def test_every_voice_id_is_one_and_has_a_spec() -> None:
    voices = new_tone().voices()
    assert len({voice.id for voice in voices}) == len(voices) > 2
    assert all(check_voice_id(voice.id) and voice.spec for voice in voices)


def test_pitch_moves_the_tone_by_semitones() -> None:
    pcm = play(Asked(params={"pitch": 12}))
    assert loudness_at(pcm, 880) > 0.4
    assert loudness_at(pcm, 440) < 0.01


def test_gain_moves_the_level_by_decibels() -> None:
    quiet = loudness_at(play(Asked(params={"gain": -20})), 440)
    assert quiet == pytest.approx(loudness_at(play(Asked()), 440) / 10, rel=0.01)


def test_the_loudest_a_request_can_ask_for_does_not_wrap_around() -> None:
    samples = array("h", play(Asked(params={"gain": 6}, delivery="frantic")))
    assert 32_000 < max(samples) <= 32_767
    assert -32_000 > min(samples) >= -32_767


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_speed_divides_the_duration(speed: float) -> None:
    assert len(play(Asked(params={"speed": speed}))) == len(play(Asked())) / speed


def test_tremolo_shows_as_side_bands() -> None:
    assert loudness_at(play(Asked()), 446) < 0.02
    assert loudness_at(play(Asked(params={"tremoloDepth": 1})), 446) > 0.08


@pytest.mark.contract("5.deliveries.translated")
def test_hushed_is_quieter_and_frantic_trembles() -> None:
    ordinary = play(Asked())
    assert loudness_at(play(Asked(delivery="hushed")), 440) == pytest.approx(
        loudness_at(ordinary, 440) / 4, rel=0.01
    )
    assert loudness_at(play(Asked(delivery="frantic")), 452) > 0.05
    assert loudness_at(ordinary, 452) < 0.02


@pytest.mark.contract("5.cues.translated")
def test_each_claimed_cue_is_a_sound_of_its_own() -> None:
    engine = new_tone()
    claimed = engine.variants()["dialled"].cues
    assert 0 < len(claimed) < len(CUES)
    sounds = {play(Asked(f"[{cue}]")) for cue in claimed}
    assert len(sounds) == len(claimed)
    assert loudness_at(play(Asked("[laugh]")), 5000) > 0.4
    assert loudness_at(play(Asked("laugh")), 5000) < 0.01


def test_a_language_is_an_octave() -> None:
    assert loudness_at(play(Asked(variant="polyglot", language="en")), 440) > 0.4
    assert loudness_at(play(Asked(variant="polyglot", language="fr")), 880) > 0.4


def test_a_seed_is_reproducible_and_another_sounds_different() -> None:
    seeded = [play(Asked(seed=seed)) for seed in (7, 7, 8, 2**63, -1)]
    assert seeded[0] == seeded[1]
    assert len(set(seeded)) == 4
    assert max(loudness_at(seeded[0], 440 + off) for off in range(-6, 7)) > 0.3


def test_without_a_seed_the_same_request_sounds_the_same() -> None:
    assert play(Asked()) == play(Asked())


def test_stereo_is_another_rate_with_a_quieter_second_channel() -> None:
    engine = new_tone()
    native = engine.variants()["stereo"].native_format
    assert native is not None
    pcm = play(Asked(variant="stereo"))
    assert native.duration_ms(len(pcm)) == 17 * 60
    left, right = array("h", pcm)[0::2], array("h", pcm)[1::2]
    assert max(right) == max(left) // 2
    assert loudness_at(pcm, 440, rate=22_050, channels=2) > 0.4


def test_audio_comes_in_tenths_of_a_second() -> None:
    pieces = list(new_tone().speak(SpeakRequest(WORD, "plain")))
    assert {len(piece) for piece in pieces[:-1]} == {4800}


def test_the_variants_differ_in_everything_a_variant_may_say() -> None:
    variants = new_tone().variants()
    assert next(iter(variants)) == "plain"
    plain = variants["plain"]
    assert not (plain.cues or plain.deliveries or plain.dials or plain.languages)
    assert [len(variant.deliveries) for variant in variants.values()] == [0, 2, 1, 0, 0]
    assert variants["polyglot"].languages == ("en", "fr")
    assert variants["brief"].max_characters == 40
    assert variants["brief"].streaming is None


def test_a_listener_who_leaves_is_noted_with_what_was_heard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="rhapsode_engine_tone")
    speech = new_tone().speak(SpeakRequest(WORD, "plain"))
    next(speech)
    next(speech)
    speech.close()
    assert caplog.messages == ["speaking 17 characters", "stopped after 200 ms of audio"]


def test_an_utterance_heard_to_its_end_is_noted_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="rhapsode_engine_tone")
    play(Asked("ab"))
    assert caplog.messages == ["speaking 2 characters", "finished 120 ms of audio"]
