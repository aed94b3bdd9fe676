"""Each check of how a process behaves fails on the process that does not, and no other does."""

import os

import anyio
import pytest
from rhapsode_conform import CHECKS, MANIFEST, Options, Patience, Report, Target, check_worker
from rhapsode_conform.selection import select

from .flaws import FOLLOWERS, SCENES

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


async def test_a_process_without_a_log_is_found(raw_command: tuple[str, ...]) -> None:
    report = await report_of(raw_command, "2.logs.json-lines: none", only=("2.logs",))
    assert report.failed == ("2.logs.json-lines",)


async def test_a_line_in_braces_that_is_no_json_is_found(raw_command: tuple[str, ...]) -> None:
    report = await report_of(raw_command, "2.logs.json-lines: no JSON", only=("2.logs",))
    assert report.failed == ("2.logs.json-lines",)


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
