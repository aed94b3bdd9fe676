"""Voices that callers make, of files and of each other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rhapsode_contract import BadRequest, ModelUnavailable, UnknownVoice, Unsupported, Voice
from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro.roster import NAMES
from rhapsode_engine_kokoro.styles import SHAPE, Styles, gather_voices, npy_of, read_styles
from rhapsode_worker import NewVoice
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.voicing.recipe import Recipe

from .references import create, npy, pt
from .release import voices

RELEASE = np.frombuffer(voices(), "<f4").reshape(len(NAMES), *SHAPE)


def styles_of(name: str) -> Styles:
    """Returns a built-in's vectors, read here and not by the engine."""
    return RELEASE[NAMES.index(name)].reshape(SHAPE[0], SHAPE[2])


def blend(engine: KokoroEngine, voice_id: str, recipe: str) -> None:
    engine.blend_voice(NewVoice(voice_id, voice_id.title(), blend=Recipe.parse(recipe)))


def listed(engine: KokoroEngine) -> dict[str, Voice]:
    return {voice.id: voice for voice in engine.voices()}


def say(engine: KokoroEngine, voice: str) -> bytes:
    return b"".join(engine.speak(SpeakRequest("Good morning.", "fp16", voice=voice)))


def stored(engine: KokoroEngine, voice_id: str) -> Styles:
    return read_styles(engine.voice_dir / f"{voice_id}.npy")


@pytest.mark.parametrize("kind", ["npy", "pt"])
def test_a_style_vector_becomes_the_voice_it_is(engine: KokoroEngine, kind: str) -> None:
    styles = styles_of("am_adam")
    create(engine, "mine", npy_of(styles) if kind == "npy" else pt(styles.reshape(SHAPE)), kind)
    assert say(engine, "mine") == say(engine, "am_adam")
    assert listed(engine)["mine"].tags == ("en-US", "cloned")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((511, 1, 256), np.float32),
        np.zeros((510, 256), np.float32),
        np.zeros((1, 256), np.float32),
        np.zeros(SHAPE, np.int32),
        np.full(SHAPE, np.nan, np.float32),
        np.full(SHAPE, -8.5, np.float32),
        np.full(SHAPE, 3e38, np.float32),
    ],
)
def test_an_array_of_another_shape_or_kind_is_refused_by_name(
    engine: KokoroEngine, array: object
) -> None:
    with pytest.raises(BadRequest) as refusal:
        create(engine, "mine", npy(array))
    assert refusal.value.field == "reference"
    assert "mine" not in listed(engine)


@pytest.mark.parametrize("contents", [b"", b"RIFF", npy_of(np.zeros((510, 256), np.float32))[:-1]])
@pytest.mark.parametrize("kind", ["npy", "pt"])
def test_a_file_of_the_right_type_with_other_contents_is_refused(
    engine: KokoroEngine, kind: str, contents: bytes
) -> None:
    with pytest.raises(BadRequest):
        create(engine, "mine", contents, kind)


def test_a_blend_lies_between_its_parts_as_its_weights_say(engine: KokoroEngine) -> None:
    blend(engine, "mix", "af_heart(3)+am_adam")
    wanted = 0.75 * styles_of("af_heart") + 0.25 * styles_of("am_adam")
    assert stored(engine, "mix") == pytest.approx(wanted, abs=1e-6)
    assert say(engine, "mix") not in {say(engine, "af_heart"), say(engine, "am_adam")}


def test_a_voice_blended_with_itself_is_itself(engine: KokoroEngine) -> None:
    blend(engine, "same", "af_heart(0.3)+af_heart(0.4)")
    assert (stored(engine, "same") == styles_of("af_heart")).all()


def test_a_blend_speaks_as_the_part_that_counts_most(engine: KokoroEngine) -> None:
    blend(engine, "mix", "af_heart(1)+bf_emma(2)")
    assert listed(engine)["mix"].tags == ("en-GB", "blended")


def test_a_blend_outlives_and_outlasts_its_parts(engine: KokoroEngine) -> None:
    create(engine, "part", npy_of(styles_of("bm_lewis")))
    blend(engine, "mix", "part+af_sky")
    before, spec = say(engine, "mix"), listed(engine)["mix"].spec
    create(engine, "part", npy_of(styles_of("bm_fable")))
    engine.delete_voice("part")
    assert say(engine, "mix") == before
    assert listed(engine)["mix"].spec == spec


@pytest.mark.parametrize("name", ["ef_dora", "nobody"])
def test_a_blend_of_a_voice_that_is_not_listed_is_refused(engine: KokoroEngine, name: str) -> None:
    with pytest.raises(UnknownVoice):
        blend(engine, "mix", f"af_heart+{name}")


def test_a_blend_needs_the_voices_and_no_graph(empty: KokoroEngine) -> None:
    with pytest.raises(ModelUnavailable):
        blend(empty, "mix", "af_heart+am_adam")
    empty.weights_dir.mkdir()
    (empty.weights_dir / "voices.f32").write_bytes(voices())
    blend(empty, "mix", "af_heart+am_adam")
    assert "mix" in listed(empty)


def test_a_voice_may_stand_in_for_a_built_in_until_it_is_deleted(engine: KokoroEngine) -> None:
    before = listed(engine)["af_sky"].spec
    create(engine, "af_sky", npy_of(styles_of("am_puck")))
    assert say(engine, "af_sky") == say(engine, "am_puck")
    assert listed(engine)["af_sky"].spec != before
    engine.delete_voice("af_sky")
    assert say(engine, "af_sky") != say(engine, "am_puck")
    assert listed(engine)["af_sky"].spec == before


def test_a_built_in_cannot_be_deleted(engine: KokoroEngine) -> None:
    with pytest.raises(Unsupported):
        engine.delete_voice("af_heart")
    with pytest.raises(UnknownVoice):
        engine.delete_voice("nobody")


def test_a_name_in_the_way_of_the_release_says_the_accent(engine: KokoroEngine) -> None:
    create(engine, "bf_v0emma", npy_of(styles_of("af_heart")))
    create(engine, "zf_v0", npy_of(styles_of("af_heart")))
    tags = {voice.id: voice.tags for voice in engine.voices()}
    assert tags["bf_v0emma"] == ("en-GB", "cloned")
    assert tags["zf_v0"] == ("en-US", "cloned")


@pytest.mark.contract("7.spec.opaque")
def test_the_spec_changes_with_the_variant(engine: KokoroEngine) -> None:
    half = listed(engine)["af_heart"].spec
    engine.variant = "fp32"
    assert listed(engine)["af_heart"].spec != half


def test_the_archive_of_the_release_page_becomes_the_voices_file(tmp_path: Path) -> None:
    archive, target = tmp_path / "voices-v1.0.bin", tmp_path / "voices.f32"
    with archive.open("wb") as file:
        arrays: dict[str, Any] = dict(zip(NAMES, RELEASE, strict=True))
        np.savez(file, **arrays)
    gather_voices(archive, target, NAMES)
    assert target.read_bytes() == voices()


def test_a_built_in_that_was_replaced_by_a_voice_of_another_language_is_no_default_of_its_own(
    engine: KokoroEngine,
) -> None:
    blend(engine, "af_heart", "bf_emma")
    assert "en-GB" in (listed(engine)["af_heart"].tags or ())
    request = SpeakRequest("Good morning.", "fp16", language="en-US")
    american = [voice.id for voice in engine.voices() if "en-US" in (voice.tags or ())]
    assert b"".join(engine.speak(request)) == b"".join(
        engine.speak(SpeakRequest("Good morning.", "fp16", language="en-US", voice=american[0]))
    )
