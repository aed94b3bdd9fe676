"""A wrong declaration stops an adapter where it is written, not at a request."""

from typing import Any

import pytest
from rhapsode_contract import CUES
from rhapsode_worker.variant import ALL_CUES, Variant


@pytest.mark.contract("d.text.default-limit")
def test_a_variant_that_says_nothing_claims_nothing_but_the_default_limit() -> None:
    variant = Variant()
    assert (tuple(variant.cues), tuple(variant.deliveries), dict(variant.dials)) == ((), (), {})
    assert variant.languages is None
    assert variant.max_characters == 4096


def test_every_word_of_the_vocabulary_may_be_claimed() -> None:
    assert ALL_CUES == CUES
    Variant(cues=ALL_CUES, deliveries=["hushed", "frantic"], dials={"speed": (0.5, 2.0, 1.0)})


@pytest.mark.parametrize(
    "wrong",
    [
        {"cues": ["yawn"]},
        {"cues": "laugh"},
        {"cues": ["Laugh"]},
        {"deliveries": ["ordinary"]},
        {"deliveries": "hushed"},
        {"dials": {"speed": (0.5, 2.0, 3.0)}},
        {"dials": {"speed": (2.0, 0.5, 1.0)}},
        {"dials": {"speed": (0.5, 2.0, float("nan"))}},
        {"dials": {"speed": (0.5, 2.0)}},
        {"languages": "en"},
        {"languages": []},
        {"languages": ["English, please"]},
        {"dials": {"vibrato_depth": (0.0, 1.0, 0.5)}},
        {"dials": {"speed": ("0", 1.0, 0.5)}},
        {"dials": {"speed": 1.0}},
        {"reference_seconds": (30, 5)},
        {"reference_seconds": 5},
        {"streaming": "chunks"},
        {"max_characters": 0},
    ],
    ids=repr,
)
@pytest.mark.contract("5.cues.closed-set", "5.deliveries.closed-set")
def test_what_nobody_could_ask_for_cannot_be_claimed(wrong: dict[str, Any]) -> None:
    (part,) = wrong
    with pytest.raises(ValueError, match=part.removesuffix("s").replace("deliverie", "deliver")):
        Variant(**wrong)


def test_the_dial_that_is_wrong_is_named() -> None:
    for dial in ((0.5, 2.0), (0.5, "2", 1.0), None):
        with pytest.raises(ValueError, match="'vibrato'"):
            Variant(dials={"vibrato": dial})  # type: ignore[dict-item]  # what this is about
