"""Workers that cannot be reached, that hang and that die."""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from rhapsode_conform import (
    CHECKS,
    Check,
    Need,
    Options,
    Patience,
    Target,
    Unreachable,
    Verdict,
    check_worker,
)
from rhapsode_conform.outcome import failed
from rhapsode_conform.selection import select
from rhapsode_conform.subject import Subject
from rhapsode_http import UnixAddress

pytestmark = pytest.mark.anyio

PROMISE = CHECKS[0].promise


@pytest.fixture
def raw(raw_command: tuple[str, ...]) -> Target:
    """A worker that keeps every promise."""
    return Target(command=(*raw_command, "-"), engine="raw")


def options(**patience: float) -> Options:
    return Options(patience=Patience(**patience), environment=dict(os.environ))


def check(run: Callable[[Subject], Awaitable[None]], *needs: Need) -> Check:
    return Check(PROMISE, "these", needs, run)


async def passes(_: Subject) -> None:
    """Finds nothing wrong."""


async def test_an_address_where_nobody_is_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rhapsode_conform.runner._RETRY_SECONDS", 0)
    with pytest.raises(Unreachable, match="nobody.sock"):
        await check_worker(Target(address=UnixAddress(tmp_path / "nobody.sock")), options())


async def test_a_command_that_is_not_there_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="cannot be run"):
        await check_worker(Target(command=("/no/such/command",)), options())


async def test_the_last_words_of_one_that_ends_at_once_are_told() -> None:
    command = (sys.executable, "-c", "import sys; sys.exit('no weights here')")
    with pytest.raises(Unreachable, match="no weights here"), anyio.fail_after(60):
        await check_worker(Target(command=command), options())


async def test_one_that_says_nothing_is_not_waited_for_for_ever() -> None:
    command = (sys.executable, "-c", "import sys; sys.stdin.read()")
    with pytest.raises(Unreachable, match="nothing within"), anyio.fail_after(60):
        await check_worker(Target(command=command), options(start_seconds=0.5))


async def test_a_variant_that_is_not_listed_is_unreachable(raw: Target) -> None:
    with pytest.raises(Unreachable, match="plain"), anyio.fail_after(60):
        await check_worker(raw, Options(variant="fancy", environment=dict(os.environ)))


async def test_a_worker_that_dies_under_a_check_has_failed_it_and_is_replaced(raw: Target) -> None:
    async def kills(subject: Subject) -> None:
        assert subject.worker is not None
        subject.worker.process.kill()
        await subject.worker.exited()

    async def answers(subject: Subject) -> None:
        assert (await subject.wire.get("/health")).status == 200

    with anyio.fail_after(60):
        report = await check_worker(raw, options(), [check(kills), check(answers)])
    assert [each.outcome.verdict for each in report.results] == [Verdict.FAILED, Verdict.PASSED]
    assert "ended" in report.results[0].outcome.why


async def test_checks_that_are_never_settled_are_given_up_after_three(raw: Target) -> None:
    with anyio.fail_after(60):
        hangs = [check(lambda _: anyio.sleep_forever()) for _ in range(3)]
        report = await check_worker(raw, options(check_seconds=0.1), [*hangs, check(passes)])
    verdicts = [each.outcome.verdict for each in report.results]
    assert verdicts == [Verdict.FAILED] * 3 + [Verdict.UNDECIDED]


async def test_a_finding_is_the_outcome_and_a_bug_of_ours_no_pass(raw: Target) -> None:
    async def finds(_: Subject) -> None:
        raise failed("it is wrong", "this")

    async def trips(_: Subject) -> None:
        raise KeyError("what")

    with anyio.fail_after(60):
        report = await check_worker(raw, options(), [check(finds), check(trips)])
    assert [each.outcome.why for each in report.results][0] == "it is wrong"
    assert report.failed == (PROMISE.id, PROMISE.id)


async def test_what_a_check_needs_and_a_worker_lacks_is_skipped(raw: Target) -> None:
    plain = Options(variant="plain", environment=dict(os.environ))
    with anyio.fail_after(60):
        report = await check_worker(raw, plain, [check(passes, Need.CLONING)])
    outcome = report.results[0].outcome
    assert (outcome.verdict, outcome.why) == (Verdict.SKIPPED, "it needs a variant that clones")


async def test_one_variant_can_be_looked_at_alone(raw: Target) -> None:
    seen: list[str] = []

    async def notes(subject: Subject) -> None:
        seen.extend(subject.variants)

    chosen = Options(variant="full", environment=dict(os.environ))
    with anyio.fail_after(60):
        checks = [check(notes), *select(CHECKS, only=["6.language.unlisted", "5"])]
        report = await check_worker(raw, chosen, checks)
    assert seen == ["full"]
    assert report.failed == ()


async def test_nothing_is_left_of_a_worker_that_was_started(tmp_path: Path, raw: Target) -> None:
    pids: list[int] = []

    async def notes(subject: Subject) -> None:
        assert subject.worker is not None
        pids.append(subject.worker.process.pid)

    with anyio.fail_after(60):
        await check_worker(raw, options(), [check(notes)])
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
