"""Which checks a word chooses."""

import pytest
from rhapsode_conform import CHECKS
from rhapsode_conform.selection import NoCheck, select


def ids(**words: list[str]) -> list[str]:
    return [check.id for check in select(CHECKS, **words)]


def test_no_word_chooses_all() -> None:
    assert ids() == [check.id for check in CHECKS]


def test_an_id_chooses_itself() -> None:
    assert ids(only=["6.params.unknown"]) == ["6.params.unknown"]


def test_a_beginning_chooses_what_begins_so_up_to_a_dot() -> None:
    assert set(ids(only=["6.params"])) == {
        "6.params.by-dials",
        "6.params.heard",
        "6.params.unknown",
    }
    assert all(each.startswith("6.") for each in ids(only=["6"]))


def test_a_family_and_a_pattern_choose() -> None:
    assert ids(only=["fetch"]) == ["8.fetch.optional", "8.fetch.downloads"]
    assert "6.params.unknown" in ids(only=["*.unknown*"])


def test_what_is_skipped_is_left_out() -> None:
    assert ids(only=["fetch"], skip=["8.fetch.optional"]) == ["8.fetch.downloads"]


def test_a_word_that_names_nothing_is_an_error() -> None:
    with pytest.raises(NoCheck, match=r"6\.parms"):
        ids(only=["6.parms"])
    with pytest.raises(NoCheck):
        ids(skip=["7.nothing"])
    with pytest.raises(NoCheck):
        ids(only=["6.param"])


def test_that_no_check_is_left_is_an_error() -> None:
    with pytest.raises(NoCheck, match="no check is left"):
        ids(only=["fetch"], skip=["8"])
