"""Voicepacks as they are found: in three kinds of numbers, and with the rows of an older Kokoro."""

import numpy as np
import pytest
from numpy.typing import NDArray
from rhapsode_contract import BadRequest
from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro.styles import ROWS, WIDTH, read_styles

from .references import STORAGES, create, npy, pt

OLD_SHAPE = (511, 1, 256)
"""Of Kokoro v0.19: the first row is for no phonemes at all."""


def pack(rows: int) -> NDArray[np.float32]:
    """Returns random style vectors, exact in every kind of number there is."""
    random = np.random.default_rng(7)
    numbers = random.integers(-128, 128, size=(rows, 1, WIDTH))
    return numbers.astype(np.float32) / np.float32(64)


@pytest.mark.contract("7.create.reference")
@pytest.mark.parametrize("kind", ["npy", "pt"])
def test_a_voicepack_of_kokoro_0_19_is_refused_by_its_shape(
    engine: KokoroEngine, kind: str
) -> None:
    old = pack(OLD_SHAPE[0])
    with pytest.raises(BadRequest) as refusal:
        create(engine, "af_old", npy(old) if kind == "npy" else pt(old), kind)
    assert refusal.value.field == "reference"
    assert "511 x 1 x 256" in refusal.value.message
    assert "510 x 1 x 256" in refusal.value.message
    assert "af_old" not in {voice.id for voice in engine.voices()}


@pytest.mark.parametrize("number", STORAGES)
def test_an_old_voicepack_is_refused_in_every_kind_of_number(
    engine: KokoroEngine, number: str
) -> None:
    with pytest.raises(BadRequest, match="511 x 1 x 256"):
        create(engine, "af_old", pt(pack(OLD_SHAPE[0]), number), "pt")


@pytest.mark.parametrize("number", STORAGES)
def test_a_pt_voicepack_is_taken_in_every_kind_of_number(engine: KokoroEngine, number: str) -> None:
    styles = pack(ROWS)
    create(engine, "mine", pt(styles, number), "pt")
    kept = read_styles(engine.voice_dir / "mine.pt")
    assert (kept == styles.reshape(ROWS, WIDTH)).all()


@pytest.mark.parametrize("number", ["float16", "float32", "float64"])
def test_an_npy_voicepack_is_taken_in_every_kind_of_number(
    engine: KokoroEngine, number: str
) -> None:
    styles = pack(ROWS)
    create(engine, "mine", npy(styles.astype(number)))
    kept = read_styles(engine.voice_dir / "mine.npy")
    assert (kept == styles.reshape(ROWS, WIDTH)).all()
