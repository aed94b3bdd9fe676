"""A text as the generations that make it."""

import pytest
from rhapsode_worker.parts import nth_seed, parts_of
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.variant import Variant

TEXT = (
    "The first sentence is short. The second one, which has a clause, is a little longer than"
    " that. And the third ends it!"
)


def test_a_variant_without_a_size_gets_its_text_whole() -> None:
    request = SpeakRequest(TEXT, "whole", seed=7)
    (part,) = parts_of(request, Variant())
    assert part.request is request
    assert part.silence_ms == 0


@pytest.mark.contract("8.split.own-size")
@pytest.mark.parametrize("size", [40, 60, 500])
def test_each_generation_gets_at_most_what_the_variant_declares(size: int) -> None:
    parts = list(parts_of(SpeakRequest(TEXT, "v"), Variant(segment_characters=size)))
    assert all(len(part.request.text) <= size for part in parts)
    assert " ".join(part.request.text for part in parts) == TEXT


def test_an_adapter_with_a_loop_of_its_own_gets_the_text_whole() -> None:
    variant = Variant(segment_characters=40, has_own_loop=True)
    (part,) = parts_of(SpeakRequest(TEXT, "v"), variant)
    assert part.request.text == TEXT


@pytest.mark.contract("8.split.joint")
def test_the_pause_suits_the_joint_and_nothing_follows_the_last() -> None:
    variant = Variant(segment_characters=50, joint_silence_ms=250)
    parts = list(parts_of(SpeakRequest(TEXT, "v"), variant))
    assert parts[0].request.text == "The first sentence is short."
    assert parts[0].silence_ms == 250
    assert 0 <= parts[1].silence_ms < 250  # a clause ends there
    assert parts[-1].silence_ms == 0
    assert [part.request.is_last for part in parts] == [False] * (len(parts) - 1) + [True]


@pytest.mark.contract("d.seeds.segments")
def test_each_segment_has_the_seed_of_the_request_plus_its_index() -> None:
    variant = Variant(segment_characters=50)
    parts = list(parts_of(SpeakRequest(TEXT, "v", seed=7), variant))
    assert [part.request.seed for part in parts] == [7 + n for n in range(len(parts))]
    assert [part.request.index for part in parts] == list(range(len(parts)))


def test_a_seed_at_the_end_of_its_range_starts_again_at_the_other() -> None:
    assert nth_seed(2**63 - 1, 1) == -(2**63)
    assert nth_seed(None, 3) is None


def test_what_one_segment_leaves_the_next_finds() -> None:
    parts = list(parts_of(SpeakRequest(TEXT, "v"), Variant(segment_characters=50)))
    parts[0].request.carried["prompt"] = "its audio"
    assert parts[1].request.carried == {"prompt": "its audio"}


def test_two_requests_carry_nothing_from_one_to_the_other() -> None:
    variant = Variant(segment_characters=50)
    first, second = (list(parts_of(SpeakRequest(TEXT, "v"), variant)) for _ in range(2))
    first[0].request.carried["prompt"] = "mine"
    assert second[0].request.carried == {}


@pytest.mark.parametrize(
    ("size", "first", "joint"), [(0, None, 0), (None, 10, 0), (50, 60, 0), (50, 0, 0), (50, 10, -1)]
)
def test_a_declaration_that_makes_no_sense_is_refused(
    size: int | None, first: int | None, joint: int
) -> None:
    with pytest.raises(ValueError, match="segment|joint"):
        Variant(segment_characters=size, first_segment_characters=first, joint_silence_ms=joint)
