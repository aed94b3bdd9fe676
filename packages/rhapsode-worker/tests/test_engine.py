"""What an adapter may use of its base class."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from rhapsode_contract import UnknownVoice, Voice
from rhapsode_worker.engine import Engine
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.variant import Variant


class Cloner(Engine):
    """Keeps a file for each voice."""

    native_format = NativeFormat()

    def variants(self) -> dict[str, Variant]:
        return {"only": Variant()}

    def load(self, variant: str) -> None: ...

    def unload(self) -> None: ...

    def voices(self) -> list[Voice]:
        return []

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        raise NotImplementedError


@pytest.fixture
def engine(tmp_path: Path) -> Cloner:
    cloner = Cloner()
    cloner.voice_dir = tmp_path / "voices"
    return cloner


def test_dials_become_keyword_arguments(engine: Cloner) -> None:
    request = SpeakRequest("Hi.", "only", params={"cfgWeight": 0.5, "speed": 1.0})
    assert engine.dials_for(request) == {"cfg_weight": 0.5, "speed": 1.0}


def test_a_voice_is_the_file_of_its_name_and_no_voice_is_none(engine: Cloner) -> None:
    engine.voice_dir.mkdir()
    clip = engine.voice_dir / "narrator_02.wav"
    clip.touch()
    (engine.voice_dir / "folder").mkdir()
    assert engine.path_for("narrator_02") == clip
    assert engine.path_for(None) is None


@pytest.mark.parametrize("voice", ["nobody", "*", "narrator_0?", "folder", "", "../secret", "."])
def test_a_name_is_never_a_pattern_nor_a_path(voice: str, engine: Cloner) -> None:
    engine.voice_dir.mkdir()
    (engine.voice_dir / "narrator_02.wav").touch()
    (engine.voice_dir / "folder").mkdir()
    (engine.voice_dir.parent / "secret.wav").touch()
    with pytest.raises(UnknownVoice) as refusal:
        engine.path_for(voice)
    assert refusal.value.field == "voice"


def test_what_is_no_reference_is_no_voice(engine: Cloner) -> None:
    engine.voice_dir.mkdir()
    (engine.voice_dir / "notes.txt").touch()
    elsewhere = engine.voice_dir.parent / "elsewhere.wav"
    elsewhere.touch()
    (engine.voice_dir / "link.wav").symlink_to(elsewhere)
    for voice in ("notes", "link"):
        with pytest.raises(UnknownVoice):
            engine.path_for(voice)


def test_a_folder_that_was_never_made_holds_no_voice(engine: Cloner) -> None:
    with pytest.raises(UnknownVoice):
        engine.path_for("narrator_02")


def test_audio_becomes_samples_of_the_engines_format(engine: Cloner) -> None:
    pieces = list(engine.pcm_of([0.0] * 60_000))
    assert [len(piece) for piece in pieces] == [48_000, 48_000, 24_000]


def test_an_adapter_that_leaves_out_a_method_cannot_be_made() -> None:
    class Half(Engine):
        def variants(self) -> dict[str, Variant]:
            return {}

    with pytest.raises(TypeError, match="load"):
        Half()  # type: ignore[abstract]  # wrong on purpose
