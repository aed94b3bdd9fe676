"""Engines that are built anew beside themselves, one by one or all that are behind."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from rhapsode.installs.steps import REGISTER_WAIT_SECONDS
from rhapsode.settings.entry import EngineEntry
from rhapsode_contract import (
    BadRequest,
    Conflict,
    JobStep,
    UnknownEngine,
)

from .box import VERSION, downloads, open_box, over

pytestmark = pytest.mark.anyio

LICENCE = "CC-BY-NC-4.0"
STEPS: tuple[JobStep, ...] = ("venv", "packages", "verify")


@pytest.mark.contract("10.reinstall.slots", "10.reinstall.steps")
async def test_a_reinstall_goes_from_slot_to_slot_and_removes_the_one_it_left(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        await box.install_old()
        assert box.roster.is_outdated("tone")
        for slot in ("tone.alt", "tone", "tone.alt"):
            job = box.installer.reinstall("tone", accept=None)
            assert (job.kind, job.variant) == ("reinstall", None)
            told = await box.until_over(job.id)
            phases = {event.progress.phase for event in told if event.progress is not None}
            assert phases == {"venv", "packages", "verify", "register"}
            assert box.lying_there == {slot: VERSION}
            assert box.venv_of("tone") == box.venvs / slot
        assert box.roster.is_outdated("tone") is False


@pytest.mark.contract("10.reinstall.beside")
async def test_the_engine_stays_where_it_is_until_the_new_one_works(tmp_path: Path) -> None:
    async with open_box(tmp_path) as box:
        await box.install_old()
        box.builder.hangs_at = "verify"
        job = box.installer.reinstall("tone", accept=None)
        await box.builder.hangs.wait()
        assert box.lying_there == {"tone": "0.1.0", "tone.alt": "remains"}
        assert box.venv_of("tone") == box.venvs / "tone"
        box.builder.may_go_on.set()
        await over(box, job)


@pytest.mark.contract("10.reinstall.failure-changes-nothing")
@pytest.mark.parametrize("step", STEPS)
async def test_a_reinstall_that_fails_before_it_is_recorded_changes_nothing(
    tmp_path: Path, step: JobStep
) -> None:
    async with open_box(tmp_path) as box:
        await box.install_old()
        box.builder.breaks_at = step
        job = await over(box, box.installer.reinstall("tone", accept=None))
        assert (job["state"], job["step"], job["error"]["code"]) == ("failed", step, "internal")
        assert box.lying_there == {"tone": "0.1.0"}
        assert (box.venv_of("tone"), box.roster.worker_version("tone")) == (
            box.venvs / "tone",
            "0.1.0",
        )


@pytest.mark.contract("10.reinstall.waits-for-speaking")
async def test_a_reinstall_waits_until_the_engine_has_finished_speaking(tmp_path: Path) -> None:
    assert REGISTER_WAIT_SECONDS == 600
    async with open_box(tmp_path) as box:
        await box.install_old()
        box.roster.begin_speaking("tone")
        job = box.installer.reinstall("tone", accept=None)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(5):
            while "waits 600 for tone" not in box.roster.diary:
                await anyio.lowlevel.checkpoint()
        assert box.jobs.job(job.id).shape().step == "register"
        assert box.lying_there == {"tone": "0.1.0", "tone.alt": VERSION}
        box.roster.end_speaking("tone")
        assert (await over(box, job))["state"] == "succeeded"
        assert box.lying_there == {"tone.alt": VERSION}


@pytest.mark.contract("10.reinstall.waits-for-speaking")
async def test_a_reinstall_of_an_engine_that_never_stops_speaking_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rhapsode.installs.steps.REGISTER_WAIT_SECONDS", 0.01)
    async with open_box(tmp_path) as box:
        await box.install_old()
        box.roster.begin_speaking("tone")
        job = await over(box, box.installer.reinstall("tone", accept=None))
        assert (job["state"], job["step"], job["error"]["code"]) == (
            "failed",
            "register",
            "conflict",
        )
        assert box.lying_there == {"tone": "0.1.0"}
        assert box.venv_of("tone") == box.venvs / "tone"


@pytest.mark.contract("10.reinstall.unknown", "10.reinstall.operators")
async def test_what_is_not_installed_is_not_reinstalled(tmp_path: Path) -> None:
    mine = EngineEntry(command=("hum",))
    async with open_box(tmp_path, config={"hum": mine}) as box:
        assert box.roster.database is not None
        box.roster.database.record_engine("gone", {"venv": str(box.venvs / "gone")})
        for engine, error in (
            ("nobody", UnknownEngine),
            ("tone", UnknownEngine),
            ("gone", UnknownEngine),
            ("hum", Conflict),
        ):
            with pytest.raises(error):
                box.installer.reinstall(engine, accept=None)
        assert box.jobs.newest_first() == []


@pytest.mark.contract("10.jobs.conflict")
async def test_an_engine_with_a_job_is_not_reinstalled(tmp_path: Path) -> None:
    async with open_box(tmp_path) as box:
        await box.install_old()
        box.builder.hangs_at = "venv"
        box.installer.reinstall("tone", accept=None)
        with pytest.raises(Conflict):
            box.installer.reinstall("tone", accept=None)
        await box.builder.hangs.wait()
        with pytest.raises(Conflict):
            box.installer.reinstall("tone", accept=None)
        box.builder.may_go_on.set()


@pytest.mark.contract("10.reinstall.no-database")
async def test_a_box_without_a_database_has_only_engines_of_its_operator(tmp_path: Path) -> None:
    mine = EngineEntry(command=("tone",))
    async with open_box(tmp_path, config={"tone": mine}, has_database=False) as box:
        with pytest.raises(Conflict):
            box.installer.reinstall("tone", accept=None)
        with pytest.raises(Conflict):
            await box.installer.uninstall("tone")
        with pytest.raises(UnknownEngine):
            box.installer.reinstall("hum", accept=None)
        assert box.installer.reinstall_outdated().to_object() == {"jobs": [], "skipped": []}


@pytest.mark.contract("10.reinstall.accept", "10.accept.recorded")
@pytest.mark.parametrize("recorded", [LICENCE, "CC-BY-NC-3.0", None])
async def test_a_reinstall_asks_for_the_licence_only_where_the_recorded_one_does_not_cover_it(
    tmp_path: Path, recorded: str | None
) -> None:
    async with open_box(tmp_path) as box:
        await box.install("bound", accept=LICENCE)
        assert box.roster.database is not None
        entry: dict[str, Any] = {"venv": str(box.venvs / "bound")}
        entry |= {"accepted": recorded} if recorded else {}
        box.roster.database.record_engine("bound", entry)
        with pytest.raises(BadRequest):
            box.installer.reinstall("bound", accept="MIT")
        if recorded != LICENCE:
            with pytest.raises(BadRequest, match=LICENCE):
                box.installer.reinstall("bound", accept=None)
        accept = None if recorded == LICENCE else LICENCE
        await over(box, box.installer.reinstall("bound", accept=accept))
        after = box.roster.entry("bound")
        assert after is not None
        assert (after.accepted, after.venv) == (LICENCE, box.venvs / "bound.alt")


async def test_a_reinstall_keeps_what_an_operator_wrote_into_an_entry_that_was_imported(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        assert box.roster.database is not None
        old = tmp_path / "elsewhere" / "tone"
        old.mkdir(parents=True)
        entry = {"venv": str(old), "env": {"A": "b"}, "autostart": True}
        box.roster.database.record_engine("tone", entry)
        job = await over(box, box.installer.reinstall("tone", accept=None))
        assert job["state"] == "succeeded"
        assert box.roster.database.engines()["tone"] == {
            **entry,
            "venv": str(box.venvs / "tone"),
        }
        assert old.exists()  # outside the folder, so not this core's to delete


# Everything that is behind.


@pytest.mark.contract("10.outdated.queues", "10.outdated.skips", "10.outdated.never-refuses")
async def test_what_is_behind_is_reinstalled_and_what_would_need_asking_is_skipped(
    tmp_path: Path,
) -> None:
    mine = EngineEntry(venv=tmp_path / "mine")
    async with open_box(tmp_path, config={"mine": mine}) as box:
        assert box.installer.reinstall_outdated().to_object() == {"jobs": [], "skipped": []}
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "VERSION").write_text("0.0.1")
        database = box.roster.database
        assert database is not None
        await box.install_old("whistle")
        await box.install_old("tone")
        await box.install_old("bound", accept=LICENCE)
        database.record_engine("bound", {"venv": str(box.venvs / "bound")})
        database.record_engine("gone", {"venv": str(box.venvs / "tone")})
        database.record_engine("blank", {"venv": str(box.venvs / "blank")})
        await box.install("hum")
        database.remove_engine("gone")
        (box.venvs / "gone").mkdir()
        (box.venvs / "gone" / "VERSION").write_text("0.1.0")
        database.record_engine("gone", {"venv": str(box.venvs / "gone")})
        box.roster.fetches = downloads
        pull = box.installer.pull("whistle", "sine")
        answer = box.installer.reinstall_outdated()
        assert [(job.engine, job.kind) for job in answer.jobs] == [("tone", "reinstall")]
        assert answer.to_object()["skipped"] == [
            {"engine": "bound", "reason": "licence"},
            {"engine": "gone", "reason": "uncatalogued"},
            {"engine": "whistle", "reason": "busy"},
        ]
        await box.until_over(pull.id)
        again = box.installer.reinstall_outdated()
        assert [job.engine for job in again.jobs] == ["whistle"]
        assert ("tone", "busy") in {(one.engine, one.reason) for one in again.skipped}


@pytest.mark.contract("10.outdated.queues")
async def test_what_is_behind_is_reinstalled_in_the_order_of_ids(tmp_path: Path) -> None:
    async with open_box(tmp_path) as box:
        for engine in ("whistle", "hum", "tone"):
            await box.install_old(engine)
        await box.install_old("bound", accept=LICENCE)
        answer = box.installer.reinstall_outdated()
        assert [job.engine for job in answer.jobs] == ["bound", "hum", "tone", "whistle"]
        for job in answer.jobs:
            await box.until_over(job.id)
        assert box.installer.reinstall_outdated().to_object() == {"jobs": [], "skipped": []}
        assert set(box.lying_there.values()) == {VERSION}
