"""What a caller is told of a voice that is not there."""

import pytest
from rhapsode_contract import UnknownVoice, Voice
from rhapsode_worker.voices import check_voice, checked_voices


def told(voice_id: str, *known: str) -> str:
    """Returns the message about a voice, without what every message begins with."""
    with pytest.raises(UnknownVoice) as refusal:
        check_voice(voice_id, [Voice(id=name, label=name, spec=name) for name in known], "id")
    assert refusal.value.field == "id"
    return refusal.value.message.removeprefix(f"id: there is no {voice_id!r}; ")


@pytest.mark.contract("d.errors.near-voices")
def test_a_handful_of_voices_is_named_the_most_alike_first_and_the_rest_counted() -> None:
    assert told("a44", "b5", "a4", "c5") == "there are a4, b5, c5"
    assert told("a44", "c1", "c2", "c3", "c4", "a4") == "there are a4, c1, c2, c3, c4"
    assert told("a44", "c1", "c2", "c3", "c4", "a4", "c5", "c6") == (
        "there are a4, c1, c2, c3, c4 and 2 more"
    )


def test_one_voice_is_one_and_none_is_said_to_be_none() -> None:
    assert told("nobody", "heart") == "there is heart"
    assert told("nobody") == "this engine has no voices"


def test_a_voice_that_no_request_could_name_is_left_out_and_the_others_stay() -> None:
    good, twice = Voice(id="ann", label="A", spec="1"), Voice(id="ann", label="B", spec="2")
    odd, unspecified = Voice(id="../x", label="X", spec="3"), Voice(id="bo", label="B", spec="")
    kept, wrong = checked_voices([good, odd, twice, unspecified])
    assert kept == [good]
    for said, voice_id in zip(wrong, ("../x", "ann", "bo"), strict=True):
        assert voice_id in said


@pytest.mark.parametrize("told", [None, 5, [{"id": "ann"}], ["ann"]])
def test_what_is_no_list_of_voices_is_said_to_be_none(told: object) -> None:
    with pytest.raises(TypeError, match=r"voices\(\)"):
        checked_voices(told)
