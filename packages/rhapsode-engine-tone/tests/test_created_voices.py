"""Voices that callers make are as high as what they are made of."""

import io
import wave
from array import array
from math import pi, sin
from pathlib import Path

import pytest
from rhapsode_contract import BadRequest, UnknownVoice, Unsupported
from rhapsode_engine_tone import ToneEngine
from rhapsode_engine_tone.pitch import pitch_of
from rhapsode_worker import NewVoice
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.voicing.recipe import Recipe
from rhapsode_worker.voicing.staging import Staging


def sine(hertz: float, *, seconds: float = 1.0, rate: int = 24_000, channels: int = 1) -> bytes:
    """Returns a WAV file that sounds in its second half only."""
    step = 2 * pi * hertz / rate
    mono = [round(9000 * sin(step * at)) for at in range(round(seconds * rate / 2))]
    samples = array("h", bytes(2 * channels * 2 * len(mono)))
    samples[len(mono) * channels :: channels] = array("h", mono)
    return wav(samples.tobytes(), rate=rate, channels=channels)


def wav(pcm: bytes, *, rate: int = 24_000, channels: int = 1, sample_bytes: int = 2) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(sample_bytes)
        writer.setframerate(rate)
        writer.writeframes(pcm)
    return file.getvalue()


@pytest.fixture
def tone(tmp_path: Path) -> ToneEngine:
    engine = ToneEngine()
    engine.voice_dir = tmp_path / "voices"
    return engine


def clone(tone: ToneEngine, voice_id: str, contents: bytes) -> None:
    with Staging(tone.voice_dir).stage("wav") as staged:
        staged.write(contents)
        tone.create_voice(NewVoice(voice_id, voice_id.title(), reference=staged))


def blend(tone: ToneEngine, voice_id: str, recipe: str) -> None:
    tone.blend_voice(NewVoice(voice_id, voice_id.title(), blend=Recipe.parse(recipe)))


def spec_of(tone: ToneEngine, voice_id: str) -> str:
    return {voice.id: voice.spec for voice in tone.voices()}[voice_id]


def heard(tone: ToneEngine, voice_id: str, folder: Path) -> float:
    """Returns the pitch of what a voice says, its dials as they are."""
    pcm = b"".join(tone.speak(SpeakRequest("a" * 17, "plain", voice=voice_id)))
    path = folder / "heard.wav"
    path.write_bytes(wav(pcm))
    return pitch_of(path)


@pytest.mark.parametrize(
    ("hertz", "rate", "channels"), [(300, 24_000, 1), (97.3, 44_100, 2), (1234.5, 8_000, 1)]
)
def test_a_clone_is_as_high_as_its_reference(
    tone: ToneEngine, tmp_path: Path, hertz: float, rate: int, channels: int
) -> None:
    clone(tone, "sam", sine(hertz, rate=rate, channels=channels))
    assert heard(tone, "sam", tmp_path) == pytest.approx(hertz, abs=1)


def test_a_blend_is_the_weighted_mean_and_stays_when_a_part_goes(
    tone: ToneEngine, tmp_path: Path
) -> None:
    clone(tone, "sam", sine(300))
    blend(tone, "mix", "sam(3)+a3")
    tone.delete_voice("sam")
    assert heard(tone, "mix", tmp_path) == pytest.approx(280, abs=1)


@pytest.mark.parametrize(
    "contents",
    [
        b"",
        b"this is no recording of anybody",
        sine(300)[:40],
        sine(300, seconds=0.05),
        wav(bytes(48_000)),
        wav(bytes(24_000), sample_bytes=1),
        sine(5000),
        sine(5),
    ],
    ids=["empty", "text", "torn", "short", "silent", "8-bit", "high", "low"],
)
@pytest.mark.contract("7.create.reference")
def test_what_has_no_pitch_is_no_reference(tone: ToneEngine, contents: bytes) -> None:
    with pytest.raises(BadRequest) as refusal:
        clone(tone, "sam", contents)
    assert refusal.value.field == "reference"
    assert "sam" not in {voice.id for voice in tone.voices()}


def test_a_voice_of_ours_can_be_replaced_and_comes_back(tone: ToneEngine, tmp_path: Path) -> None:
    listed = [voice.id for voice in tone.voices()]
    spec = spec_of(tone, "a3")
    clone(tone, "a3", sine(300))
    assert [voice.id for voice in tone.voices()] == listed
    assert spec_of(tone, "a3") != spec
    assert heard(tone, "a3", tmp_path) == pytest.approx(300, abs=1)
    tone.delete_voice("a3")
    assert spec_of(tone, "a3") == spec
    assert heard(tone, "a3", tmp_path) == pytest.approx(220, abs=1)


def test_our_own_voices_cannot_be_deleted(tone: ToneEngine) -> None:
    with pytest.raises(Unsupported):
        tone.delete_voice("a4")
    with pytest.raises(UnknownVoice):
        tone.delete_voice("nobody")


def test_a_preview_is_what_the_voice_was_made_of(tone: ToneEngine) -> None:
    clone(tone, "sam", sine(300))
    blend(tone, "mix", "a3+a4")
    sam, mix = tone.preview("sam"), tone.preview("mix")
    assert sam is not None
    assert mix is not None
    assert sam.read_bytes() == sine(300)
    assert pitch_of(mix) == pytest.approx(330)
    assert tone.preview("a4") is None


def test_every_blend_has_a_spec_of_its_own(tone: ToneEngine) -> None:
    blend(tone, "mix", "a3+a4")
    before = spec_of(tone, "mix")
    blend(tone, "mix", "a3+c5")
    assert spec_of(tone, "mix") != before
