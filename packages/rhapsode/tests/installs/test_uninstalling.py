"""Engines that go, and weights that come."""

import errno
import shutil
from pathlib import Path

import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.state import StateDatabase
from rhapsode_contract import (
    Conflict,
    Internal,
    JobStep,
    UnknownEngine,
    Unsupported,
)

from .box import VERSION, downloads, install, open_box, over

pytestmark = pytest.mark.anyio

LICENCE = "CC-BY-NC-4.0"
STEPS: tuple[JobStep, ...] = ("venv", "packages", "verify")


@pytest.mark.contract("10.uninstall.removes", "10.uninstall.only-inside", "10.uninstall.unknown")
async def test_an_uninstall_removes_the_engine_and_both_slots_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        await box.install()
        await box.install("hum")
        (box.venvs / "tone.alt").mkdir()
        await box.installer.uninstall("tone")
        assert box.roster.diary[-1] == "removes tone"
        assert box.lying_there == {"hum": VERSION}
        assert box.roster.engines() == ["hum"]
        with pytest.raises(UnknownEngine):
            await box.installer.uninstall("tone")
        await box.install()


@pytest.mark.contract("10.uninstall.only-inside")
async def test_an_uninstall_leaves_a_virtualenv_outside_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    async with open_box(tmp_path) as box:
        assert box.roster.database is not None
        box.roster.database.record_engine("tone", {"venv": str(outside)})
        (box.venvs).mkdir()
        (box.venvs / "tone").symlink_to(outside)
        (outside / "precious").touch()
        await box.installer.uninstall("tone")
        assert (outside / "precious").exists()
        assert not (box.venvs / "tone").is_symlink()


async def test_an_uninstall_leaves_what_another_engine_runs_from(tmp_path: Path) -> None:
    mine = EngineEntry(venv=tmp_path / "venvs" / "tone.alt")
    async with open_box(tmp_path, config={"mine": mine}) as box:
        assert box.roster.database is not None
        for slot in ("tone", "tone.alt"):
            (box.venvs / slot).mkdir(parents=True)
        box.roster.database.record_engine("tone", {"venv": str(box.venvs / "tone")})
        await box.installer.uninstall("tone")
        assert box.lying_there == {"tone.alt": "remains"}


@pytest.mark.contract("10.uninstall.operators", "10.uninstall.speaking", "10.jobs.conflict")
async def test_what_is_the_operators_or_speaks_or_has_a_job_is_not_removed(
    tmp_path: Path,
) -> None:
    mine = EngineEntry(command=("hum",))
    async with open_box(tmp_path, config={"hum": mine}) as box:
        await box.install()
        box.roster.begin_speaking("tone")
        for engine, error in (("tone", Conflict), ("hum", Conflict), ("nobody", UnknownEngine)):
            with pytest.raises(error):
                await box.installer.uninstall(engine)
        assert box.lying_there == {"tone": VERSION}
        assert box.jobs.is_idle("tone")
        box.roster.end_speaking("tone")
        box.builder.hangs_at = "venv"
        box.installer.reinstall("tone", accept=None)
        await box.builder.hangs.wait()
        with pytest.raises(Conflict):
            await box.installer.uninstall("tone")
        assert box.roster.engines() == ["hum", "tone"]
        box.builder.may_go_on.set()


async def test_an_uninstall_that_cannot_delete_says_so_and_the_engine_is_gone_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_busy(path: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy", str(path))

    async with open_box(tmp_path) as box:
        await box.install()
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "rmtree", is_busy)
            with pytest.raises(Internal, match="busy"):
                await box.installer.uninstall("tone")
        assert box.roster.engines() == []
        await box.install()
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "rmtree", is_busy)
            job = box.installer.reinstall("tone", accept=None)
            told = await box.until_over(job.id)
        assert box.jobs.job(job.id).shape().state == "succeeded"
        assert [e.level for e in told if e.message and "busy" in e.message] == ["warn"]


async def test_an_uninstall_of_another_databases_folder_removes_nothing(tmp_path: Path) -> None:
    async with open_box(tmp_path) as box:
        await box.install()
    (tmp_path / "rhapsode.db").unlink()
    with StateDatabase.open(tmp_path / "rhapsode.db") as other:
        other.record_engine("tone", {"venv": str(tmp_path / "venvs" / "tone")})
    async with open_box(tmp_path) as box:
        with pytest.raises(Conflict):
            await box.installer.uninstall("tone")
        assert box.roster.engines() == ["tone"]
        assert box.lying_there == {"tone": VERSION}


# Pulling.


@pytest.mark.contract("10.pull.job")
async def test_a_pull_fetches_a_variant_for_an_engine_of_the_operator_too(
    tmp_path: Path,
) -> None:
    mine = EngineEntry(command=("mine",))
    async with open_box(tmp_path, config={"mine": mine}, has_database=False) as box:
        box.roster.fetches = downloads
        job = box.installer.pull("mine", "turbo")
        assert (job.kind, job.variant) == ("pull", "turbo")
        ended = await over(box, job)
        assert (ended["state"], ended["step"]) == ("succeeded", "weights")
        assert box.roster.diary == ["fetches turbo of mine"]


@pytest.mark.contract("10.pull.unsupported")
async def test_a_pull_for_an_engine_that_fetches_nothing_is_unsupported(tmp_path: Path) -> None:
    mine = EngineEntry(command=("mine",))
    async with open_box(tmp_path, config={"mine": mine}) as box:
        job = await over(box, box.installer.pull("mine", "sine"))
        assert (job["state"], job["error"]["code"]) == ("failed", "unsupported")


@pytest.mark.contract("10.pull.unsupported")
async def test_of_what_was_installed_the_catalog_says_at_once_that_there_is_nothing_to_fetch(
    tmp_path: Path,
) -> None:
    async with open_box(tmp_path) as box:
        await box.install()
        before = len(box.jobs.newest_first())
        with pytest.raises(Unsupported, match="fetches nothing"):
            box.installer.pull("tone", "built-in")
        with pytest.raises(Unsupported, match="has no 'nonsense'"):
            box.installer.pull("tone", "nonsense")
        assert len(box.jobs.newest_first()) == before


@pytest.mark.contract("10.pull.unknown")
async def test_a_pull_for_an_engine_that_is_not_here_or_disabled_is_unknown(
    tmp_path: Path,
) -> None:
    off = EngineEntry(command=("mine",), disabled=True)
    async with open_box(tmp_path, config={"off": off}) as box:
        for engine in ("tone", "off", "../x"):
            with pytest.raises(UnknownEngine):
                box.installer.pull(engine, "sine")


@pytest.mark.contract("10.jobs.conflict")
async def test_an_engine_with_a_job_gets_no_second_of_any_kind(tmp_path: Path) -> None:
    async with open_box(tmp_path) as box:
        await box.install()
        box.builder.hangs_at = "packages"
        job = box.installer.reinstall("tone", accept=None)
        await box.builder.hangs.wait()
        for ask in (
            lambda: box.installer.pull("tone", "sine"),
            lambda: box.installer.reinstall("tone", accept=None),
            lambda: install(box),
        ):
            with pytest.raises(Conflict):
                ask()
        assert len(box.jobs.newest_first()) == 2
        box.builder.may_go_on.set()
        assert (await over(box, job))["state"] == "succeeded"
