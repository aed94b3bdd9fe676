"""Each check fails on the worker that breaks its promise, and no other check does."""

from pathlib import Path

import anyio
import pytest
from rhapsode_conform import MANIFEST, Options, Patience, Report, Target, check_worker
from rhapsode_http import UnixAddress
from rhapsode_http.testing import http_only, serving

from .flaws import FOLLOWERS, IN_THE_PROCESS, OVER_HTTP
from .raw_worker import RawWorker

pytestmark = pytest.mark.anyio

PATIENCE = Patience(check_seconds=30, health_seconds=0.5)
WITHOUT_A_FLAW = {
    "6.seed.reproduces": "an engine need not reproduce, so that it ends undecided",
    "d.errors.retry-after": "a should; what is retryable comes of the server, which says it",
    "d.queue.hang-up": "a should; it ends where the deadline of all checks does",
    "d.queue.limit": "a should; a crowd is refused by the server or not at all",
    "d.request-id.answered": "a should; the server that the raw worker stands on says it",
}
"""Promises that no worker here breaks, and why."""


async def report_of(broken: str | None, folder: Path) -> Report:
    address = UnixAddress(folder / "raw.sock")
    async with serving(http_only(RawWorker(broken)), address=address):
        with anyio.fail_after(60):
            return await check_worker(Target(address=address), Options(patience=PATIENCE))


def test_every_promise_is_broken_by_a_worker_here_or_has_a_reason() -> None:
    assert {*OVER_HTTP, *IN_THE_PROCESS, *WITHOUT_A_FLAW} == set(MANIFEST)


async def test_a_worker_without_the_sdk_conforms(tmp_path: Path) -> None:
    report = await report_of(None, tmp_path)
    assert {each.check.id: each.outcome for each in report.results if each.check.id in report.failed} == {}
    assert report.conforms


@pytest.mark.parametrize("promise_id", OVER_HTTP)
async def test_a_broken_promise_is_found(promise_id: str, tmp_path: Path) -> None:
    report = await report_of(promise_id, tmp_path)
    assert set(report.failed) == {promise_id} | FOLLOWERS.get(promise_id, set())
    assert report.conforms is (MANIFEST[promise_id].level == "should")
