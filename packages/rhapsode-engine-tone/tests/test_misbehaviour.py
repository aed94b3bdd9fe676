"""The flags, as words."""

import pytest
from rhapsode_engine_tone.misbehaviour import DEFAULTS, Flag, parse


def test_no_flags_are_no_misbehaviour() -> None:
    assert not parse("")
    assert not parse(" , ")


def test_flags_are_parted_by_commas_and_some_carry_a_number() -> None:
    assert parse("die-mid-stream=1.5, ignore-sigterm,pace") == {
        Flag.DIE_MID_STREAM: 1.5,
        Flag.IGNORE_SIGTERM: 0,
        Flag.PACE: DEFAULTS[Flag.PACE],
    }


@pytest.mark.parametrize(
    "text",
    ["die", "die-mid-stream=", "die-mid-stream=soon", "pace=0", "pace=-1", "slow-load=nan",
     "ignore-sigterm=1", "=", "pace=inf"],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="RHAPSODE_TONE_MISBEHAVE"):
        parse(text)


@pytest.mark.parametrize("flag", list(Flag))
def test_every_flag_is_a_word_of_its_own(flag: Flag) -> None:
    assert list(parse(flag)) == [flag]
