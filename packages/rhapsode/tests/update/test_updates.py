"""When a core asks whether it is current, and what it says meanwhile."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from rhapsode.update.release import Release
from rhapsode.update.updates import Outcome, is_due

from .desk import HOUR, MINUTE, open_desk
from .site import PAGE, answer, open_site, released

pytestmark = pytest.mark.anyio

RELEASE = Release("v0.2.0", PAGE + "v0.2.0")


@pytest.mark.contract("9.update.pending", "9.update.only-when-asked")
async def test_the_first_look_is_answered_at_once_and_sets_off_one_check() -> None:
    async with open_site() as site, open_desk(site) as desk:
        site.answers = anyio.Event()
        assert desk.updates.look().to_object() == {
            "version": "0.1.0",
            "check": "pending",
            "distribution": "source",
        }
        await site.until_asked(1)
        assert desk.updates.look().check == "pending"
        site.answers.set()
        await desk.updates.check()
        assert (desk.updates.look().check, site.asked) == ("ok", 1)


@pytest.mark.contract("9.update.ok", "9.update.compared")
async def test_an_answer_says_what_is_newer_and_where_to_read_of_it() -> None:
    async with open_site() as site, open_desk(site, version="0.1.9") as desk:
        before = datetime.now(UTC)
        status = await desk.updates.check()
    checked_at = status.checked_at
    assert checked_at is not None and before <= checked_at <= before + timedelta(minutes=1)
    told = status.to_object()
    assert told.pop("checkedAt").endswith("Z")
    assert told == {
        "version": "0.1.9",
        "check": "ok",
        "latest": "0.2.0",
        "updateAvailable": True,
        "releaseUrl": PAGE + "v0.2.0",
        "distribution": "source",
    }


@pytest.mark.parametrize("tag", ["v0.2.0", "v0.1.9", "nightly"])
@pytest.mark.contract("9.update.compared")
async def test_nobody_is_offered_the_same_a_downgrade_or_what_is_no_version(tag: str) -> None:
    async with open_site(answer(released(tag))) as site, open_desk(site, version="0.2.0") as desk:
        status = await desk.updates.check()
    assert (status.check, status.update_available) == ("ok", False)


@pytest.mark.parametrize(
    ("release", "age_seconds", "expected"),
    [
        (RELEASE, 0, False),
        (RELEASE, 24 * HOUR - 1, False),
        (RELEASE, 24 * HOUR, True),
        (None, 0, False),
        (None, 6 * HOUR - 1, False),
        (None, 6 * HOUR, True),
    ],
)
@pytest.mark.contract("9.update.daily", "9.update.retry")
def test_an_answer_is_old_after_a_day_and_a_failure_after_six_hours(
    release: Release | None, age_seconds: float, expected: bool
) -> None:
    last = Outcome(1000.0, datetime.now(UTC), release)
    assert is_due(last, 1000.0 + age_seconds) is expected


@pytest.mark.contract("9.update.daily", "9.update.never-waits")
async def test_an_answer_stands_for_a_day_and_is_told_while_the_next_is_fetched() -> None:
    async with open_site() as site, open_desk(site) as desk:
        await desk.updates.check()
        desk.pass_time(24 * HOUR - 1)
        for _ in range(3):
            assert desk.updates.look().latest == "0.2.0"
        site.says, site.answers = answer(released("v0.3.0")), anyio.Event()
        desk.pass_time(1)
        for _ in range(3):
            assert desk.updates.look().latest == "0.2.0"
        await site.until_asked(2)
        site.answers.set()
        assert (await desk.updates.check()).latest == "0.3.0"
        assert desk.updates.look().latest == "0.3.0"
        assert site.asked == 2


@pytest.mark.contract("9.update.retry", "9.update.failed")
async def test_a_failed_check_is_tried_again_after_six_hours() -> None:
    async with open_site(answer(b"{}", "403 Forbidden")) as site, open_desk(site) as desk:
        desk.updates.look()
        failed = {"version": "0.1.0", "check": "failed", "distribution": "source"}
        assert (await desk.updates.check()).to_object() == failed
        desk.pass_time(6 * HOUR - 1)
        assert desk.updates.look().to_object() == failed
        site.says = answer(released())
        desk.pass_time(1)
        assert desk.updates.look().to_object() == failed
        await site.until_asked(2)
        assert (await desk.updates.check()).check == "ok"
        assert site.asked == 2


@pytest.mark.contract("9.update.failed")
async def test_a_failure_after_an_answer_tells_nothing_of_that_answer() -> None:
    async with open_site() as site, open_desk(site) as desk:
        assert (await desk.updates.check()).check == "ok"
        site.says = answer(b"", "500 Internal Server Error")
        desk.pass_time(5 * MINUTE)
        told = (await desk.updates.check()).to_object()
        assert told == {"version": "0.1.0", "check": "failed", "distribution": "source"}
        # It was the answer from which the day counted; now the six hours do.
        desk.pass_time(6 * HOUR)
        desk.updates.look()
        await site.until_asked(3)


@pytest.mark.parametrize("is_good", [True, False])
@pytest.mark.contract("9.update.spared")
async def test_nobody_makes_the_box_ask_twice_in_five_minutes(is_good: bool) -> None:
    says = answer(released()) if is_good else answer(b"", "503 Service Unavailable")
    async with open_site(says) as site, open_desk(site) as desk:
        first = await desk.updates.check()
        desk.pass_time(5 * MINUTE - 1)
        for _ in range(20):
            assert await desk.updates.check() == first
        assert site.asked == 1
        desk.pass_time(1)
        await desk.updates.check()
        assert site.asked == 2


@pytest.mark.contract("9.update.joined")
async def test_whoever_asks_while_a_check_is_in_flight_waits_for_that_one() -> None:
    async with open_site() as site, open_desk(site) as desk:
        site.answers = anyio.Event()
        heard: list[str | None] = []

        async def ask() -> None:
            heard.append((await desk.updates.check()).latest)

        async with anyio.create_task_group() as callers:
            desk.updates.look()
            for _ in range(20):
                callers.start_soon(ask)
            await site.until_asked(1)
            site.answers.set()
    assert (heard, site.asked) == (["0.2.0"] * 20, 1)


async def test_a_check_goes_on_when_who_asked_for_it_has_left() -> None:
    async with open_site() as site, open_desk(site) as desk:
        site.answers = anyio.Event()
        async with anyio.create_task_group() as callers:
            callers.start_soon(desk.updates.check)
            await site.until_asked(1)
            callers.cancel_scope.cancel()
        site.answers.set()
        assert (await desk.updates.check()).check == "ok"
        assert site.asked == 1


@pytest.mark.parametrize(
    ("is_on", "environ"),
    [
        (False, {}),
        (True, {"RHAPSODE_UPDATE_CHECK": "0"}),
        (True, {"RHAPSODE_UPDATE_CHECK": " 0 "}),
        (False, {"RHAPSODE_UPDATE_CHECK": "1"}),
    ],
)
@pytest.mark.contract("9.update.off", "9.update.environment", "9.update.check-respects-off")
async def test_a_check_that_is_off_asks_nobody_whoever_wants_it(
    is_on: bool, environ: dict[str, str]
) -> None:
    async with open_site() as site:
        async with open_desk(site, is_on=is_on, environ=environ) as desk:
            off = {"version": "0.1.0", "check": "off", "distribution": "source"}
            for _ in range(2):
                assert desk.updates.look().to_object() == off
                assert (await desk.updates.check()).to_object() == off
                desk.pass_time(48 * HOUR)
            # What was set off by mistake has had its chance to connect by now.
            await anyio.wait_all_tasks_blocked()
        assert site.asked == 0


@pytest.mark.contract("9.update.off")
async def test_the_setting_is_heeded_as_soon_as_it_is_turned() -> None:
    async with open_site() as site, open_desk(site) as desk:
        assert (await desk.updates.check()).check == "ok"
        desk.turned.is_on = False
        assert desk.updates.look().check == "off"
        desk.turned.is_on = True
        assert desk.updates.look().check == "ok"
        assert site.asked == 1


async def test_turned_off_while_a_check_is_in_flight_it_tells_nothing() -> None:
    async with open_site() as site, open_desk(site) as desk:
        site.answers = anyio.Event()
        desk.updates.look()
        await site.until_asked(1)
        desk.turned.is_on = False
        assert (await desk.updates.check()).check == "off"


@pytest.mark.contract("9.update.no-timer")
async def test_an_end_cuts_a_check_off_and_waits_for_nothing() -> None:
    async with open_site() as site:
        site.answers = anyio.Event()
        async with open_desk(site) as desk:
            desk.updates.look()
            await site.until_asked(1)
        # The block is over: the group would have waited for a check that went on.


@pytest.mark.contract("9.update.no-timer")
async def test_a_box_that_nobody_asks_never_asks() -> None:
    async with open_site() as site, open_desk(site) as desk:
        desk.pass_time(1000 * HOUR)
        await anyio.wait_all_tasks_blocked()
        assert site.asked == 0


@pytest.mark.contract("9.update.distribution")
async def test_the_image_is_told_from_everything_else(tmp_path: Path) -> None:
    (tmp_path / "distribution").write_text("docker", encoding="utf-8")
    marker = tmp_path / "distribution"
    async with open_site() as site, open_desk(site, is_on=False, marker=marker) as desk:
        assert desk.updates.look().distribution == "docker"
