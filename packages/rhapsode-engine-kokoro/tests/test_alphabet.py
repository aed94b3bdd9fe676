"""The model's phonemes."""

import json
from pathlib import Path

from hibari.g2p import ASSETS  # pyright: ignore[reportMissingTypeStubs]  # it has none
from rhapsode_engine_kokoro.alphabet import NUMBERS, numbers_of


def test_it_is_the_alphabet_that_the_front_end_writes() -> None:
    known = json.loads((Path(str(ASSETS)) / "vocab.json").read_text(encoding="utf-8"))
    assert dict(NUMBERS) == known


def test_what_the_model_does_not_know_is_left_out() -> None:
    assert numbers_of("aXb") == [43, 44]
