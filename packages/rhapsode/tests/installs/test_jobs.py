"""The queue of jobs."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from rhapsode.installs.feed import Feed, Reader
from rhapsode.installs.job import Job
from rhapsode.installs.job_report import JobReport
from rhapsode.installs.jobs import KEPT_JOBS, Jobs, Work
from rhapsode_contract import (
    Conflict,
    ForeignError,
    JobEvent,
    ModelUnavailable,
    Overloaded,
    RouteUnknown,
)

pytestmark = pytest.mark.anyio


class Desk:
    """A queue that runs, and its feed."""

    def __init__(self) -> None:
        self.feed = Feed()
        self.jobs = Jobs(self.feed)

    async def until_over(self, job: Job) -> list[JobEvent]:
        """Returns everything that a job has told."""
        reader, told = self.feed.reader(job.id), list[JobEvent]()
        while not told or told[-1].progress is None or told[-1].progress.status == "running":
            await reader.wait()
            told += events(reader)
        assert job.is_over
        return told


def events(reader: Reader) -> list[JobEvent]:
    return [JobEvent.model_validate_json(event.data) for event in reader.take().events]


@asynccontextmanager
async def running() -> AsyncGenerator[Desk]:
    desk = Desk()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.jobs.run)
            yield desk
            tasks.cancel_scope.cancel()


async def nothing(report: JobReport) -> None:
    """Is done at once."""


async def forever(report: JobReport) -> None:
    await anyio.sleep_forever()


def failing(error: Exception) -> Work:
    async def fail(report: JobReport) -> None:
        report.step("venv")
        raise error

    return fail


def gated() -> tuple[Work, anyio.Event, anyio.Event]:
    """Returns work that says when it has begun, and goes on when it may."""
    begun, may_end = anyio.Event(), anyio.Event()

    async def work(report: JobReport) -> None:
        begun.set()
        await may_end.wait()

    return work, begun, may_end


def states(jobs: Jobs) -> dict[str, str]:
    return {job.engine: job.shape().state for job in jobs.newest_first()}


@pytest.mark.contract("10.jobs.one-at-a-time")
async def test_jobs_run_one_at_a_time_in_the_order_in_which_they_came() -> None:
    order: list[str] = []

    def noting(name: str) -> Work:
        async def work(report: JobReport) -> None:
            order.append(f"{name} begins")
            await anyio.lowlevel.checkpoint()
            order.append(f"{name} ends")

        return work

    async with running() as desk:
        jobs = [desk.jobs.submit(name, "install", noting(name)) for name in "abc"]
        for job in jobs:
            await desk.until_over(job)
    assert order == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]


@pytest.mark.contract("10.jobs.one-at-a-time", "10.jobs.newest-first")
async def test_a_job_waits_while_another_runs_and_the_newest_is_listed_first() -> None:
    async with running() as desk:
        work, begun, may_end = gated()
        first = desk.jobs.submit("a", "install", work)
        second = desk.jobs.submit("b", "pull", nothing, "sine")
        await begun.wait()
        assert [*states(desk.jobs).items()] == [("b", "queued"), ("a", "running")]
        assert first.id < second.id
        may_end.set()
        await desk.until_over(second)
        assert states(desk.jobs) == {"a": "succeeded", "b": "succeeded"}


@pytest.mark.contract("10.jobs.failure-alone")
async def test_a_job_that_fails_stops_none_behind_it() -> None:
    async with running() as desk:
        broken = desk.jobs.submit("a", "install", failing(ModelUnavailable("no room")))
        good = desk.jobs.submit("b", "install", nothing)
        await desk.until_over(good)
        error = broken.shape().error
    assert error is not None
    assert (error.code, error.message, error.retryable) == ("model_unavailable", "no room", True)
    assert good.shape().error is None


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (Conflict("theirs"), "conflict", "theirs"),
        (ForeignError("new_word", "odd", retryable=True, status=500), "new_word", "odd"),
        (OSError(28, "No space left on device", "/v/tone"), "internal", "/v/tone"),
    ],
)
@pytest.mark.contract("10.jobs.error")
async def test_a_job_fails_with_what_its_work_raises(
    failure: Exception, code: str, message: str
) -> None:
    async with running() as desk:
        job = desk.jobs.submit("a", "install", failing(failure))
        await desk.until_over(job)
    error = job.shape().error
    assert error is not None
    assert error.code == code
    assert message in error.message


async def test_a_bug_in_the_work_is_internal_and_stops_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with running() as desk:
        job = desk.jobs.submit("a", "install", failing(RuntimeError("secret")))
        await desk.until_over(job)
        await desk.until_over(desk.jobs.submit("b", "install", nothing))
    error = job.shape().error
    assert error is not None
    assert error.code == "internal"
    assert "RuntimeError" in error.message
    assert "secret" not in error.message
    assert "secret" in caplog.text


@pytest.mark.contract("10.events.last", "10.events.kinds")
async def test_the_last_event_of_a_job_is_done_once_and_after_its_outcome() -> None:
    async def work(report: JobReport) -> None:
        report.step("venv")
        report.line("made it")
        report.step("packages")
        report.step("packages")

    async with running() as desk:
        told = await desk.until_over(desk.jobs.submit("a", "install", work))
    phases = [(e.progress.phase, e.progress.status) for e in told if e.progress is not None]
    assert phases == [("venv", "running"), ("packages", "running"), ("packages", "done")]
    assert [event.kind for event in told] == ["progress", "log", "progress", "status", "progress"]
    assert [e.progress.index for e in told if e.progress is not None] == [1, 2, 2]
    assert {e.progress.total for e in told if e.progress is not None} == {4}


@pytest.mark.contract("10.events.last", "10.events.kinds")
async def test_the_last_event_of_a_failed_job_is_failed_once_and_after_its_error() -> None:
    async with running() as desk:
        job = desk.jobs.submit("a", "install", failing(Conflict("theirs")))
        told = await desk.until_over(job)
    assert [event.kind for event in told] == ["progress", "error", "progress"]
    assert told[1].message == "theirs"
    assert told[1].data == {"code": "conflict", "message": "theirs", "retryable": False}
    assert told[2].progress is not None
    assert (told[2].progress.phase, told[2].progress.status) == ("venv", "failed")
    assert {told[1].level, told[2].level} == {"error"}


@pytest.mark.contract("10.events.bytes")
async def test_a_pull_tells_its_bytes_to_the_last_without_an_event_for_each() -> None:
    async def work(report: JobReport) -> None:
        report.step("weights")
        for received in range(5001):
            report.bytes(received, 5000)

    async with running() as desk:
        told = await desk.until_over(desk.jobs.submit("a", "pull", work, "sine"))
    figures = [event.data for event in told if event.data is not None]
    assert figures[-1] == {"received": 5000, "total": 5000}
    assert len(figures) < 100


@pytest.mark.contract("10.events.bytes")
async def test_a_figure_that_was_held_back_is_told_before_the_outcome() -> None:
    async def work(report: JobReport) -> None:
        report.step("weights")
        report.bytes(1, None)
        report.bytes(2, None)

    async with running() as desk:
        told = await desk.until_over(desk.jobs.submit("a", "pull", work, "sine"))
    assert [event.data for event in told if event.data is not None][-1] == {"received": 2}


@pytest.mark.contract("10.jobs.conflict")
async def test_an_engine_has_one_job_at_a_time_and_may_have_the_next_when_it_is_over() -> None:
    async with running() as desk:
        work, begun, may_end = gated()
        first = desk.jobs.submit("a", "install", work)
        queued = desk.jobs.submit("b", "install", nothing)
        for engine, job in (("a", first), ("b", queued)):
            with pytest.raises(Conflict, match=job.id):
                desk.jobs.submit(engine, "pull", nothing, "sine")
            assert desk.jobs.active(engine) is job
        await begun.wait()
        with pytest.raises(Conflict):
            desk.jobs.check_idle("a")
        may_end.set()
        await desk.until_over(queued)
        assert desk.jobs.is_idle("a")
        await desk.until_over(desk.jobs.submit("a", "reinstall", nothing))


async def test_an_engine_that_is_being_removed_gets_no_job_and_is_removed_once() -> None:
    async with running() as desk:
        with desk.jobs.reserved("a"):
            with pytest.raises(Conflict):
                desk.jobs.submit("a", "install", nothing)
            with pytest.raises(Conflict), desk.jobs.reserved("a"):
                pass
            assert not desk.jobs.is_idle("a")
            assert desk.jobs.is_idle("b")
        await desk.until_over(desk.jobs.submit("a", "install", nothing))


@pytest.mark.contract("10.jobs.kept")
async def test_a_job_that_is_over_is_kept_until_fifty_more_have_ended() -> None:
    assert KEPT_JOBS == 50
    async with running() as desk:
        first = desk.jobs.submit("a", "install", nothing)
        await desk.until_over(first)
        for number in range(KEPT_JOBS - 1):
            await desk.until_over(desk.jobs.submit(f"n{number}", "install", nothing))
        assert desk.jobs.job(first.id) is first
        assert len(desk.jobs.newest_first()) == KEPT_JOBS
        await desk.until_over(desk.jobs.submit("last", "install", nothing))
        with pytest.raises(RouteUnknown):
            desk.jobs.job(first.id)
        assert len(desk.jobs.newest_first()) == KEPT_JOBS


@pytest.mark.contract("10.jobs.kept")
async def test_a_job_that_is_not_over_is_kept_however_many_end_before_it() -> None:
    async with running() as desk:
        work, begun, may_end = gated()
        for number in range(KEPT_JOBS):
            desk.jobs.submit(f"n{number}", "install", nothing)
        late = desk.jobs.submit("late", "install", work)
        behind = desk.jobs.submit("behind", "install", nothing)
        await begun.wait()
        assert len(desk.jobs.newest_first()) == KEPT_JOBS + 2
        may_end.set()
        await desk.until_over(behind)
        assert desk.jobs.job(late.id) is late
        assert len(desk.jobs.newest_first()) == KEPT_JOBS


@pytest.mark.contract("10.jobs.unknown")
@pytest.mark.parametrize("job_id", ["", "nope", "outdated", "01J8Z6Q4B7", "\0", "x" * 5000])
async def test_an_id_that_nobody_has_is_a_bad_request_with_a_404(job_id: str) -> None:
    with pytest.raises(RouteUnknown) as caught:
        Desk().jobs.job(job_id)
    assert (caught.value.code, caught.value.status) == ("bad_request", 404)
    assert len(caught.value.message) < 300


@pytest.mark.contract("10.jobs.shutdown", "10.events.last")
async def test_jobs_are_stopped_and_failed_when_the_server_stops() -> None:
    desk, ended = Desk(), anyio.Event()

    async def work(report: JobReport) -> None:
        report.step("packages")
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    runs = desk.jobs.submit("a", "install", work)
    waits = desk.jobs.submit("b", "install", nothing)
    reader = desk.feed.reader(runs.id)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.jobs.run)
            await reader.wait()
            tasks.cancel_scope.cancel()
    assert ended.is_set()
    for job, phase in ((runs, "packages"), (waits, "venv")):
        error = job.shape().error
        assert error is not None
        assert (job.shape().state, error.code, error.retryable) == ("failed", "overloaded", True)
        last = events(desk.feed.reader(job.id))[-1].progress
        assert last is not None
        assert (last.phase, last.status) == (phase, "failed")
    with pytest.raises(Overloaded):
        desk.jobs.submit("c", "install", nothing)


async def test_a_job_that_is_over_frees_its_engine_before_its_last_event_is_told() -> None:
    async with running() as desk:
        job = desk.jobs.submit("a", "install", nothing)
        await desk.until_over(job)
        assert desk.jobs.active("a") is None
