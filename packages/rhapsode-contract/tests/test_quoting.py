"""What came and what is allowed, in a message."""

import pytest
from rhapsode_contract.quoting import cut, listed, shown, there_are


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "null"), (True, "true"), (7, "7"), ("a\nb", r"'a\nb'"), ("\ud800", r"'\ud800'")],
)
def test_a_value_is_shown_on_one_line(value: object, said: str) -> None:
    assert shown(value) == said


def test_what_is_long_is_cut() -> None:
    assert len(shown("x" * 1000)) < 100
    assert cut("x" * 60) == "x" * 60
    assert cut("x" * 61) == "x" * 60 + "…"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "there are none"),
        (["a"], "there is a"),
        (["a", "b", "c"], "there are a, b, c"),
        (["a", "b", "c", "d"], "there are a, b, c and 1 more"),
    ],
)
def test_names_are_listed_up_to_a_handful_and_the_rest_counted(names: list[str], said: str) -> None:
    assert there_are(names, at_most=3) == said


def test_names_of_any_length_leave_a_message_readable() -> None:
    assert len(listed(["x" * 10_000] * 10_000)) < 1500
