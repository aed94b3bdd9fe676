"""Each check of how a process behaves fails on the process that does not, and no other does."""

import os

import anyio
import pytest
from rhapsode_conform import (
    CHECKS,
    MANIFEST,
    Options,
    Patience,
    Report,
    Target,
    Verdict,
    check_worker,
)
from rhapsode_conform.selection import select

from .declared import IN_PIECES
from .flaws import CUT, FOLLOWERS, SCENES
from .process import ON_ITS_WAY
from .raw_worker import NO_LONG_TEXT

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

NEVER_ENDS = "d.life.ends-with-server"
"""The flaw whose worker is waited for in vain."""


async def report_of(
    raw_command: tuple[str, ...], broken: str, *, only: tuple[str, ...] = ()
) -> Report:
    patience = Patience(
        check_seconds=30,
        start_seconds=30,
        exit_seconds=0.5 if broken == NEVER_ENDS else 20,
        stay_seconds=0.2,
    )
    options = Options(patience=patience, environment=dict(os.environ))
    with anyio.fail_after(100):
        target = Target(command=(*raw_command, broken), engine="raw")
        return await check_worker(target, options, select(CHECKS, only=only))


@pytest.mark.slow
async def test_a_process_without_the_sdk_conforms(raw_command: tuple[str, ...]) -> None:
    report = await report_of(raw_command, "-")
    assert report.failed == ()


async def test_a_log_without_a_line_of_json_is_found(raw_command: tuple[str, ...]) -> None:
    report = await report_of(raw_command, "2.logs.json-lines: raw", only=("2.logs",))
    assert set(report.failed) == {"2.logs.json-lines", "2.logs.nothing-raw"}


async def test_a_process_that_logs_nothing_may_have_nothing_to_say(
    raw_command: tuple[str, ...],
) -> None:
    report = await report_of(raw_command, "2.logs.json-lines: silent", only=("2.logs",))
    verdicts = {result.outcome.verdict for result in report.results}
    assert verdicts == {Verdict.UNDECIDED}


async def test_a_line_in_braces_that_is_no_json_is_found(raw_command: tuple[str, ...]) -> None:
    report = await report_of(raw_command, "2.logs.json-lines: no JSON", only=("2.logs",))
    assert report.failed == ("2.logs.json-lines",)


async def test_a_long_text_in_one_chunk_is_found(raw_command: tuple[str, ...]) -> None:
    flaw = "6.stream.chunked: one chunk"
    report = await report_of(raw_command, flaw, only=("6.stream.chunked",))
    assert report.failed == ("6.stream.chunked",)


async def test_a_text_longer_than_its_pieces_is_asked_of_one_that_says_how_long_they_are(
    raw_command: tuple[str, ...],
) -> None:
    report = await report_of(raw_command, IN_PIECES, only=("6.stream.chunked",))
    assert [result.outcome.verdict for result in report.results] == [Verdict.PASSED]


async def test_one_that_does_not_speak_with_so_little_is_not_told_of_its_input(
    raw_command: tuple[str, ...],
) -> None:
    flaw = "2.spawn.three-suffice: mute"
    report = await report_of(raw_command, flaw, only=("2.spawn", "1.protocol.by-hand"))
    assert report.failed == ("2.spawn.three-suffice",)


async def test_both_numbers_may_stand_in_fields_of_their_own(raw_command: tuple[str, ...]) -> None:
    report = await report_of(raw_command, "numbers in fields", only=("9", "2.logs"))
    assert report.failed == ()


async def test_a_number_in_a_time_is_not_named(raw_command: tuple[str, ...]) -> None:
    flaw = "9.refuse.too-low: one in its time"
    report = await report_of(raw_command, flaw, only=("9",))
    assert report.failed == ("9.refuse.too-low",)


@pytest.mark.parametrize("flaw", CUT)
async def test_a_drain_that_ends_an_answer_early_and_cleanly_is_found(
    flaw: str, raw_command: tuple[str, ...]
) -> None:
    report = await report_of(raw_command, flaw, only=("2.stop",))
    assert report.failed == (flaw.partition(":")[0],)


async def test_what_was_refused_was_not_in_flight(raw_command: tuple[str, ...]) -> None:
    report = await report_of(raw_command, NO_LONG_TEXT, only=("2.stop",))
    verdicts = {result.check.id: result.outcome.verdict for result in report.results}
    assert verdicts["2.stop.finishes"] is Verdict.UNDECIDED
    assert verdicts["2.stop.terminate"] is Verdict.UNDECIDED


async def test_what_was_all_on_its_way_is_not_held_to_be_covered_up(
    raw_command: tuple[str, ...],
) -> None:
    report = await report_of(raw_command, ON_ITS_WAY, only=("6.abort.worker",))
    assert [result.outcome.verdict for result in report.results] == [Verdict.UNDECIDED]


@pytest.mark.parametrize(
    ("promise_id", "scene"),
    [pytest.param(each, scene, id=each) for scene in SCENES for each in scene],
)
async def test_a_process_that_breaks_a_promise_is_found(
    promise_id: str, scene: tuple[str, ...], raw_command: tuple[str, ...]
) -> None:
    """Among the checks that look at the same process."""
    report = await report_of(raw_command, promise_id, only=scene)
    assert set(report.failed) == {promise_id} | FOLLOWERS.get(promise_id, set())
    assert report.conforms is (MANIFEST[promise_id].level == "should")
