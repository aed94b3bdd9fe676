"""Which voices are offered, and which one speaks."""

import shutil
import socket
from pathlib import Path

import pytest
from hibari import voices as library_voices  # pyright: ignore[reportMissingTypeStubs]
from rhapsode_contract import UnknownVoice, Unsupported, check_voice_id
from rhapsode_engine_hibari.library import register, weights_path
from rhapsode_engine_hibari.voices import HibariVoice, chosen, voices_here


@pytest.fixture(autouse=True)
def weights_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the weights that are not in the package, and no network."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HIBARI_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def emma(weights_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The weights of a second voice: those in the package, under another name."""
    entry = {**register()["emma"], "sha256": register()["heart"]["sha256"]}
    monkeypatch.setitem(library_voices.VOICES, "emma", entry)  # pyright: ignore[reportUnknownMemberType]
    path = weights_folder / "bf_emma.int8.onnx"
    shutil.copy(weights_path("heart"), path)
    return path


def test_only_the_voice_in_the_package_is_here_at_first() -> None:
    assert list(voices_here()) == ["heart"]


@pytest.mark.usefixtures("emma")
def test_a_voice_whose_weights_arrived_is_offered_after_the_default() -> None:
    assert list(voices_here()) == ["heart", "emma"]


def test_weights_cut_short_are_not_offered(emma: Path) -> None:
    emma.write_bytes(emma.read_bytes()[:-1])
    assert "emma" not in voices_here()


def test_weights_with_other_contents_are_not_offered(emma: Path) -> None:
    assert "emma" in voices_here()
    weights = bytearray(emma.read_bytes())
    weights[1000] ^= 1
    emma.write_bytes(weights)
    assert "emma" not in voices_here()


@pytest.mark.usefixtures("emma")
def test_every_voice_has_an_id_and_a_spec_of_its_own() -> None:
    listed = [voice.listed() for voice in voices_here().values()]
    assert all(check_voice_id(voice.id) for voice in listed)
    assert len({voice.spec for voice in listed}) == 2


@pytest.mark.contract("7.spec.opaque")
def test_the_spec_changes_with_the_weights() -> None:
    before = voices_here()["heart"]
    after = HibariVoice("heart", {**before.registered, "sha256": "0" * 64})
    assert before.listed().spec == voices_here()["heart"].listed().spec
    assert before.listed().spec != after.listed().spec


@pytest.mark.usefixtures("emma")
@pytest.mark.parametrize(
    ("name", "language", "spoken"),
    [(None, None, "heart"), (None, "en", "heart"), (None, "en-GB", "emma"), ("emma", "en", "emma")],
)
def test_a_voice_is_chosen_by_name_then_by_language(
    name: str | None, language: str | None, spoken: str
) -> None:
    assert chosen(voices_here(), name, language).id == spoken


@pytest.mark.parametrize("name", ["emma", "alloy", "../heart", ""])
def test_a_voice_that_is_not_here_is_unknown(name: str) -> None:
    with pytest.raises(UnknownVoice):
        chosen(voices_here(), name, None)


@pytest.mark.usefixtures("emma")
def test_a_voice_is_not_made_to_speak_another_english() -> None:
    with pytest.raises(Unsupported) as refusal:
        chosen(voices_here(), "heart", "en-GB")
    assert refusal.value.field == "language"
