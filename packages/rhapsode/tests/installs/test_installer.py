"""Installing, reinstalling, removing and pulling, over a real folder and a real database."""

from pathlib import Path

import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode_contract import (
    BadRequest,
    Conflict,
    JobStep,
    UnknownEngine,
    Unsupported,
)

from .box import VERSION, breaks_off, downloads, install, open_box, over, refused

pytestmark = pytest.mark.anyio

LICENCE = "CC-BY-NC-4.0"
STEPS: tuple[JobStep, ...] = ("venv", "packages", "verify")


@pytest.mark.contract("10.install.steps", "10.install.register")
async def test_an_install_goes_through_its_steps_and_ends_with_the_engine_in_service(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        job = install(box)
        assert (job.kind, job.state, job.variant) == ("install", "queued", None)
        told = await box.until_over(job.id)
        phases = [e.progress.phase for e in told if e.progress and e.progress.status == "running"]
        assert phases == ["venv", "packages", "verify", "register"]
        assert [e.message for e in told if e.kind == "log"] == [f"{s} of tone" for s in STEPS]
        assert box.lying_there == {"tone": VERSION}
        assert box.roster.database is not None
        assert box.roster.database.engines() == {"tone": {"venv": str(box.venvs / "tone")}}
        assert box.roster.diary == ["waits 0 for tone", "records tone in tone"]


@pytest.mark.contract("10.install.remains")
async def test_what_an_unfinished_install_left_in_either_slot_is_removed_first(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        for name in ("tone", "tone.alt", "other"):
            (box.venvs / name).mkdir(parents=True)
        box.builder.hangs_at = "venv"
        install(box)
        await box.builder.hangs.wait()
        assert box.lying_there == {"other": "remains"}
        box.builder.may_go_on.set()


@pytest.mark.contract("10.install.conflict")
async def test_what_is_installed_or_being_installed_is_not_installed_again(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        box.builder.hangs_at = "packages"
        job = install(box)
        assert job.id in refused(Conflict, box, "tone")  # queued
        await box.builder.hangs.wait()
        assert job.id in refused(Conflict, box, "tone")  # running
        box.builder.may_go_on.set()
        await over(box, job)
        assert "reinstall" in refused(Conflict, box, "tone")


@pytest.mark.contract("10.install.conflict")
@pytest.mark.parametrize("is_disabled", [False, True])
async def test_what_the_operator_configured_is_not_installed(
    tmp_path: Path, is_disabled: bool
) -> None:
    mine = EngineEntry(command=("tone",), disabled=is_disabled)
    async with open_box(tmp_path, config={"tone": mine}) as box:
        refused(Conflict, box, "tone")


@pytest.mark.contract("10.install.unknown")
async def test_what_is_not_in_the_catalog_is_not_installed(tmp_path: Path) -> None:
    async with open_box(tmp_path) as box:
        for engine in ("nobody", "", "../tone", "TONE", "tone\0", "x" * 5000):
            assert len(refused(UnknownEngine, box, engine)) < 300


@pytest.mark.contract("10.install.no-database")
async def test_a_box_without_a_database_installs_nothing(tmp_path: Path) -> None:
    async with open_box(tmp_path, has_database=False) as box:
        refused(Unsupported, box, "tone")
        refused(Unsupported, box, "nobody")
        assert not box.venvs.exists()


@pytest.mark.contract("10.accept.needed", "10.accept.recorded")
async def test_a_licence_that_has_to_be_accepted_is_asked_for_and_recorded(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        assert f"?accept={LICENCE}" in refused(BadRequest, box, "bound")
        refused(BadRequest, box, "bound", accept="MIT")
        refused(BadRequest, box, "tone", accept=LICENCE)
        await box.install("bound", accept=LICENCE)
        await box.install("tone", accept="Apache-2.0")
        entries = {name: box.roster.entry(name) for name in ("bound", "tone")}
        assert {name: entry and entry.accepted for name, entry in entries.items()} == {
            "bound": LICENCE,
            "tone": None,
        }


@pytest.mark.contract("10.install.pull")
async def test_an_install_that_pulls_fetches_the_variant_after_the_engine_is_in_service(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        box.roster.fetches = downloads
        job = install(box, pull="square")
        assert job.variant == "square"
        told = await box.until_over(job.id)
        assert box.roster.diary[1:] == ["records tone in tone", "fetches square of tone"]
        assert [event.data for event in told if event.data is not None][-1] == {
            "received": 4,
            "total": 4,
        }
        assert told[-1].progress is not None
        assert (told[-1].progress.phase, told[-1].progress.status) == ("weights", "done")


@pytest.mark.contract("10.install.pull")
async def test_a_variant_that_the_catalog_does_not_have_is_refused_before_anything_is_built(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        message = refused(Unsupported, box, "tone", pull="turbo")
        assert "'turbo'" in message
        assert "sine, square" in message


@pytest.mark.contract("10.install.pull-fails")
async def test_a_download_that_fails_leaves_the_engine_installed_and_a_pull_goes_on(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        box.roster.fetches = breaks_off
        job = await over(box, install(box, pull="sine"))
        assert (job["state"], job["step"]) == ("failed", "weights")
        assert job["error"]["code"] == "model_unavailable"
        assert box.roster.origin("tone") == "database"
        assert box.lying_there == {"tone": VERSION}
        box.roster.fetches = downloads
        assert (await over(box, box.installer.pull("tone", "sine")))["state"] == "succeeded"


@pytest.mark.contract("10.install.no-fetch")
async def test_an_engine_that_fetches_nothing_is_installed_all_the_same_and_the_job_says_so(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        job = install(box, pull="sine")
        told = await box.until_over(job.id)
        assert box.jobs.job(job.id).shape().state == "succeeded"
        assert [e.message for e in told if e.kind == "log"][-1] == (
            "nothing fetched: this engine fetches nothing"
        )


@pytest.mark.contract("10.install.failure")
@pytest.mark.parametrize("step", STEPS)
async def test_an_install_that_fails_leaves_the_box_as_it_was(
    tmp_path: Path, step: JobStep
) -> None:
    async with open_box(tmp_path) as box:
        box.builder.breaks_at = step
        job = await over(box, install(box))
        assert (job["state"], job["step"]) == ("failed", step)
        assert job["error"]["message"] == f"pip install: no compiler, in {step}"
        assert box.lying_there == {}
        assert box.roster.engines() == []
        box.builder.breaks_at = None
        await box.install()


async def test_a_slot_that_another_engine_runs_from_is_nobody_elses(tmp_path: Path) -> None:
    mine = EngineEntry(venv=tmp_path / "venvs" / "tone.alt")
    async with open_box(tmp_path, config={"mine": mine}) as box:
        (box.venvs / "tone.alt").mkdir(parents=True)
        assert "'mine'" in refused(Conflict, box, "tone")
        await box.install("hum")
        assert box.lying_there == {"hum": VERSION, "tone.alt": "remains"}


async def test_the_folder_of_another_database_is_a_conflict_and_nothing_in_it_is_removed(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        await box.install()
    (tmp_path / "rhapsode.db").unlink()
    async with open_box(tmp_path) as box:
        job = await over(box, install(box))
        assert (job["state"], job["error"]["code"]) == ("failed", "conflict")
        assert box.lying_there == {"tone": VERSION}


# Ended in the middle.


@pytest.mark.contract("10.jobs.shutdown", "10.install.remains")
@pytest.mark.parametrize("step", STEPS)
async def test_an_install_that_is_cut_off_leaves_nothing_that_the_next_one_trips_over(
    tmp_path: Path, step: JobStep
) -> None:
    async with open_box(tmp_path) as box:
        box.builder.hangs_at = step
        job = install(box)
        await box.builder.hangs.wait()
    assert box.jobs.job(job.id).shape().state == "failed"
    async with open_box(tmp_path) as box:
        assert box.roster.engines() == []
        await box.install()
        assert box.lying_there == {"tone": VERSION}


@pytest.mark.contract("10.reinstall.failure-changes-nothing", "10.reinstall.remains")
@pytest.mark.parametrize("step", STEPS)
async def test_a_reinstall_that_is_cut_off_leaves_the_engine_as_it_was_for_the_next(
    tmp_path: Path, step: JobStep
) -> None:
    async with open_box(tmp_path) as box:
        await box.install_old()
        box.builder.hangs_at = step
        box.installer.reinstall("tone", accept=None)
        await box.builder.hangs.wait()
    async with open_box(tmp_path) as box:
        assert box.venv_of("tone") == box.venvs / "tone"
        assert box.roster.worker_version("tone") == "0.1.0"
        job = await over(box, box.installer.reinstall("tone", accept=None))
        assert job["state"] == "succeeded"
        assert box.lying_there == {"tone.alt": VERSION}


@pytest.mark.contract("10.reinstall.database-first")
async def test_an_install_that_ends_after_it_was_recorded_is_whole_at_the_next_start(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        box.roster.records = "before it fails"
        job = await over(box, install(box))
        assert (job["state"], job["step"]) == ("failed", "register")
    async with open_box(tmp_path) as box:
        assert box.roster.engines() == ["tone"]
        assert box.roster.worker_version("tone") == VERSION
        assert (await over(box, box.installer.reinstall("tone", accept=None)))[
            "state"
        ] == "succeeded"


@pytest.mark.contract("10.reinstall.database-first")
async def test_a_reinstall_that_ends_after_it_was_recorded_starts_on_the_new_virtualenv(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        await box.install_old()
        box.roster.records = "before it fails"
        await over(box, box.installer.reinstall("tone", accept=None))
    async with open_box(tmp_path) as box:
        assert box.venv_of("tone") == box.venvs / "tone.alt"
        assert box.roster.worker_version("tone") == VERSION
        await over(box, box.installer.reinstall("tone", accept=None))
        assert box.lying_there == {"tone": VERSION}


async def test_an_install_that_could_not_be_recorded_gives_its_room_back(tmp_path: Path) -> None:
    async with open_box(tmp_path) as box:
        box.roster.records = "nothing"
        job = await over(box, install(box))
        assert (job["state"], job["step"], job["error"]["code"]) == (
            "failed",
            "register",
            "internal",
        )
        assert box.lying_there == {}


async def test_what_may_have_been_recorded_is_left_for_the_next_start(tmp_path: Path) -> None:
    async with open_box(tmp_path) as box:
        box.roster.records = "who knows"
        job = await over(box, install(box))
        assert job["error"]["message"] == "the disk is gone"
        assert box.lying_there == {"tone": VERSION}
