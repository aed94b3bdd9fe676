"""The words that mean the same on every engine (contract § 5)."""

from typing import get_args

from rhapsode_contract import CUES, DELIVERIES, FORMATS, Cue, Delivery, Format
from rhapsode_contract.vocabulary import MAX_CHARACTERS_DEFAULT


def test_the_cues_are_the_contract_s_eight_in_its_order() -> None:
    assert CUES == (
        "laugh",
        "chuckle",
        "sigh",
        "gasp",
        "cough",
        "clear throat",
        "sniff",
        "groan",
    )


def test_the_deliveries_are_the_contract_s_two_and_none_is_ordinary() -> None:
    assert DELIVERIES == ("hushed", "frantic")


def test_each_type_and_its_tuple_hold_the_same_words_in_the_same_order() -> None:
    assert get_args(Cue) == CUES
    assert get_args(Delivery) == DELIVERIES
    assert get_args(Format) == FORMATS


def test_a_variant_that_says_nothing_takes_4096_characters() -> None:
    assert MAX_CHARACTERS_DEFAULT == 4096
