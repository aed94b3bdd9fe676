"""Each check fails on the worker that breaks its promise, and no other check does."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from rhapsode_conform import (
    CHECKS,
    MANIFEST,
    Check,
    Options,
    Patience,
    Report,
    Target,
    Verdict,
    check_worker,
)
from rhapsode_conform.selection import select
from rhapsode_conform.texts import Texts
from rhapsode_http import UnixAddress
from rhapsode_http.testing import http_only, serving

from .declared import GEORGIAN
from .flaws import FOLLOWERS, IN_PART, ODD, OTHERWISE, OVER_HTTP, SCENES
from .raw_worker import LOADS_SLOWLY, NO_LINE, ROUNDS, RawWorker

pytestmark = pytest.mark.anyio

PATIENCE = Patience(check_seconds=30, health_seconds=0.5, idle_seconds=0.5)
FAMILIES = {check.id: check.family for check in CHECKS}
ALL_BUT_A_CROWD = select(CHECKS, skip=["d.queue.limit"])  # which costs more than all the rest
WITHOUT_A_FLAW = {
    "6.seed.reproduces": "an engine need not reproduce; what that leaves undecided is below",
    "d.queue.hang-up": "its worker is waited for, and has a test of its own",
    "d.queue.limit": "a should; a crowd is refused or spoken, and the raw worker has no line",
}
"""Promises that no worker of these lists breaks, and why."""
COMPARED = {
    "5.cues.claimed-subset",
    "5.deliveries.translated",
    "6.dialogue.as-speak",
    "6.dialogue.cues",
    "6.dialogue.every-turn",
    "6.dialogue.speakers",
    "6.format.heard",
    "6.language.chosen",
    "6.language.default",
    "6.params.heard",
    "6.seed.reproduces",
    "7.blend.fixed",
    "7.blend.weights",
    "7.create.heard",
    "7.voices.distinct",
    "8.serial.default",
    "d.cues.matching",
    "d.cues.worker-strips",
    "d.segments.mode-free",
}
"""Promises that are seen by comparing two recordings."""


async def report_of(
    broken: str | None,
    folder: Path,
    checks: Sequence[Check],
    patience: Patience = PATIENCE,
    *,
    text: str | None = None,
) -> Report:
    address = UnixAddress(folder / "raw.sock")
    async with serving(http_only(RawWorker(broken)), address=address):
        with anyio.fail_after(60):
            options = Options(patience=patience, texts=Texts(text))
            return await check_worker(Target(address=address), options, checks)


def undecided(report: Report) -> set[str]:
    return {
        result.check.id for result in report.results if result.outcome.verdict is Verdict.UNDECIDED
    }


def test_every_promise_is_broken_by_a_worker_here_or_has_a_reason() -> None:
    in_the_process = [promise_id for scene in SCENES for promise_id in scene]
    assert sorted([*OVER_HTTP, *in_the_process, *WITHOUT_A_FLAW]) == sorted(MANIFEST)


async def test_a_worker_without_the_sdk_conforms(tmp_path: Path) -> None:
    report = await report_of(None, tmp_path, CHECKS)
    assert report.failed == ()
    assert report.conforms


@pytest.mark.parametrize("odd", ODD)
async def test_an_odd_worker_breaks_no_more_than_it_has_to(odd: str, tmp_path: Path) -> None:
    report = await report_of(odd, tmp_path, ALL_BUT_A_CROWD)
    assert set(report.failed) == ODD[odd]


async def test_one_that_reads_no_latin_letters_is_asked_what_it_can_read(tmp_path: Path) -> None:
    report = await report_of(GEORGIAN, tmp_path, ALL_BUT_A_CROWD, text="წვიმა მოვა.")
    assert report.failed == ()


@pytest.mark.parametrize("promise_id", OVER_HTTP)
async def test_a_broken_promise_is_found_by_its_check_alone(
    promise_id: str, tmp_path: Path
) -> None:
    """Among its own family and those that look at every answer; the next test is slow."""
    checks = select(ALL_BUT_A_CROWD, only=[FAMILIES[promise_id], "record"])
    report = await report_of(promise_id, tmp_path, checks)
    followers = FOLLOWERS.get(promise_id, set()) & {check.id for check in checks}
    assert set(report.failed) == {promise_id} | followers
    assert report.conforms is (MANIFEST[promise_id].level == "should")


@pytest.mark.parametrize("flaw", OTHERWISE)
async def test_a_promise_broken_in_another_way_is_found_by_its_check_alone(
    flaw: str, tmp_path: Path
) -> None:
    promise_id = flaw.partition(":")[0]
    checks = select(ALL_BUT_A_CROWD, only=[FAMILIES[promise_id], "record"])
    report = await report_of(flaw, tmp_path, checks)
    assert report.failed == (promise_id,)


@pytest.mark.parametrize("flaw", IN_PART)
async def test_a_promise_kept_in_part_is_left_undecided(flaw: str, tmp_path: Path) -> None:
    promise_id = flaw.partition(":")[0]
    report = await report_of(flaw, tmp_path, select(CHECKS, only=[promise_id]))
    assert undecided(report) == {promise_id}


async def test_a_worker_that_lets_nobody_wait_conforms(tmp_path: Path) -> None:
    checks = select(CHECKS, only=["concurrency", "record"])
    report = await report_of(NO_LINE, tmp_path, checks)
    assert report.failed == ()


async def test_one_that_is_never_free_again_is_found(tmp_path: Path) -> None:
    patience = Patience(check_seconds=1)
    checks = select(CHECKS, only=["d.queue.hang-up"])
    report = await report_of("d.queue.hang-up", tmp_path, checks, patience)
    assert report.failed == ("d.queue.hang-up",)


async def test_each_load_may_take_as_long_as_a_check(tmp_path: Path) -> None:
    patience = Patience(check_seconds=1.5)
    report = await report_of(
        LOADS_SLOWLY, tmp_path, select(CHECKS, only=["4.variants.loadable"]), patience
    )
    assert [result.outcome.verdict for result in report.results] == [Verdict.PASSED]


async def test_a_rounding_among_others_is_not_heard(tmp_path: Path) -> None:
    report = await report_of(ROUNDS, tmp_path, select(CHECKS, only=["8.serial.default"]))
    assert [result.outcome.verdict for result in report.results] == [Verdict.PASSED]


async def test_what_cannot_be_told_without_a_seed_is_left_undecided(tmp_path: Path) -> None:
    checks = select(CHECKS, only=list(COMPARED), skip=["d.queue.limit"])
    report = await report_of("6.seed.reproduces", tmp_path, checks)
    assert report.failed == ()
    assert undecided(report) == COMPARED


async def test_with_one_voice_there_is_nothing_to_tell_apart(tmp_path: Path) -> None:
    two = {"6.dialogue.speakers", "7.voices.distinct", "7.blend.fixed", "7.blend.weights"}
    report = await report_of("one voice", tmp_path, select(CHECKS, only=list(two)))
    verdicts = {result.outcome.verdict for result in report.results}
    assert verdicts == {Verdict.SKIPPED}


@pytest.mark.slow
@pytest.mark.parametrize("promise_id", OVER_HTTP)
async def test_a_broken_promise_is_found_among_all_checks(promise_id: str, tmp_path: Path) -> None:
    report = await report_of(promise_id, tmp_path, ALL_BUT_A_CROWD)
    assert set(report.failed) == {promise_id} | FOLLOWERS.get(promise_id, set())
