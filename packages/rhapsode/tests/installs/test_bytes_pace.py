"""How often a download is worth an event."""

from hypothesis import given
from hypothesis import strategies as st
from rhapsode.installs.bytes_pace import INTERVAL_SECONDS, BytesPace


def told(figures: list[tuple[float, int, int | None]]) -> list[tuple[int, int | None]]:
    """Returns what is passed on of figures with their times, and what is at the end."""
    pace = BytesPace()
    passed = [(count, total) for at, count, total in figures if pace.note(count, total, at)]
    rest = pace.rest()
    return passed if rest is None else [*passed, rest]


def test_the_first_figure_and_the_last_are_told_and_few_between() -> None:
    figures: list[tuple[float, int, int | None]] = [(n / 1000, n, 1000) for n in range(1001)]
    passed = told(figures)
    assert passed[0] == (0, 1000)
    assert passed[-1] == (1000, 1000)
    assert len(passed) <= 2 + 1.0 / INTERVAL_SECONDS


def test_a_slow_download_is_told_at_every_figure() -> None:
    assert told([(0, 1, None), (1, 2, None), (2, 3, None)]) == [(1, None), (2, None), (3, None)]


def test_the_same_figure_is_told_once() -> None:
    assert told([(0, 5, 5), (9, 5, 5), (99, 5, 5)]) == [(5, 5)]


def test_what_was_held_back_is_told_when_no_more_comes() -> None:
    assert told([(0, 1, None), (0.1, 2, None)]) == [(1, None), (2, None)]


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9), st.none() | st.integers(0, 9))))
def test_the_last_figure_is_always_told(
    steps: list[tuple[float, int, int | None]],
) -> None:
    at = 0.0
    figures: list[tuple[float, int, int | None]] = []
    for wait, count, total in steps:
        at += wait
        figures.append((at, count, total))
    passed = told(figures)
    assert [*passed[-1:]] == [(count, total) for _, count, total in figures[-1:]]
