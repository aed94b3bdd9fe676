"""The engine with its real model: int8 and the voices, in `.cache/kokoro`.

`script/test` fetches them. The words are held against a recogniser in `tests/end_to_end`.
"""

import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from rhapsode_contract import BadRequest, RhapsodeError
from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro.styles import LARGEST, npy_of
from rhapsode_worker.requests import SpeakRequest

from .small_model.references import create

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

WEIGHTS: Final = Path(__file__).parents[3] / ".cache" / "kokoro"
VARIANT: Final = "int8"
SENTENCE: Final = "The birch canoe slid on the smooth planks."


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KokoroEngine]:
    assert WEIGHTS.exists(), "script/test fetches the weights"
    engine = KokoroEngine()
    engine.voice_dir = tmp_path_factory.mktemp("voices")
    engine.weights_dir = WEIGHTS
    engine.load(VARIANT)
    yield engine
    engine.unload()


def say(engine: KokoroEngine, text: str, voice: str | None = None) -> "array[int]":
    return array("h", b"".join(engine.speak(SpeakRequest(text, VARIANT, voice=voice, seed=1))))


def test_it_speaks_at_a_speaking_pace_and_level(engine: KokoroEngine) -> None:
    for voice in ("af_heart", "bm_george"):
        spoken = say(engine, SENTENCE, voice)
        assert 2.0 < len(spoken) / 24_000 < 4.5
        assert 3_000 < max(abs(value) for value in spoken) < 32_000


def test_it_says_the_same_in_the_same_way(engine: KokoroEngine) -> None:
    assert say(engine, SENTENCE) == say(engine, SENTENCE)


def test_a_listener_that_leaves_stops_the_network_in_its_midst(engine: KokoroEngine) -> None:
    begun = time.monotonic()
    text = "A long breath of words that goes on and on without any end at all " * 3
    request = SpeakRequest(text, VARIANT, is_abandoned=lambda: time.monotonic() - begun > 0.2)
    made = sum(map(len, engine.speak(request)))
    assert made < len(say(engine, text)) / 2


@pytest.mark.parametrize(
    "text",
    ["9" * 300, "1,000.50 " * 100, "a" * 500, "$1,250.75 at 25:61", "①②③", "St. " * 100],
)
def test_odd_text_is_spoken_and_breaks_nothing(engine: KokoroEngine, text: str) -> None:
    pieces = engine.speak(SpeakRequest(text, VARIANT))
    assert len(next(piece for piece in pieces if piece)) > 4_800


def test_the_text_before_a_sentence_that_cannot_be_said_is_said(engine: KokoroEngine) -> None:
    try:
        assert len(say(engine, f"{SENTENCE}\n\nПривет."))
    except RhapsodeError as error:
        pytest.fail(str(error))


@pytest.mark.parametrize("number", [LARGEST, -LARGEST], ids=["no sound", "no numbers"])
def test_numbers_that_are_no_voice_are_the_voices_fault(
    engine: KokoroEngine, number: float
) -> None:
    create(engine, "mine", npy_of(np.full((510, 256), number, np.float32)))
    with pytest.raises(BadRequest, match="^voice: .*'mine'"):
        say(engine, "Hello there.", "mine")
