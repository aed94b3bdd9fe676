"""Whose a folder of virtualenvs is, and what may be deleted in it."""

import os
from pathlib import Path

import anyio
import pytest
from rhapsode.installs.venv_folder import OWNER_FILE, VenvFolder, remove_venv
from rhapsode_contract import Conflict

pytestmark = pytest.mark.anyio


def folder(path: Path, identity: str = "one") -> VenvFolder:
    """Gives the folder as a core sees it whose database has this identity."""
    return VenvFolder(path, identity, Path(f"/srv/{identity}/rhapsode.db"))


async def test_the_first_to_claim_a_folder_has_it_and_claims_it_again(tmp_path: Path) -> None:
    venvs = tmp_path / "a" / "venvs"
    await folder(venvs).claim()
    await folder(venvs).claim()
    assert (venvs / OWNER_FILE).read_text(encoding="utf-8").splitlines()[0] == "one"
    assert os.listdir(venvs) == [OWNER_FILE]


@pytest.mark.contract("10.building.owner")
async def test_another_database_is_refused_and_told_whose_it_is(tmp_path: Path) -> None:
    (tmp_path / "tone").mkdir()
    await folder(tmp_path).claim()
    with pytest.raises(Conflict) as refused:
        await folder(tmp_path, "two").claim()
    assert "/srv/one/rhapsode.db" in refused.value.message
    assert OWNER_FILE in refused.value.message
    assert (tmp_path / "tone").is_dir()
    await folder(tmp_path).claim()


@pytest.mark.parametrize("said", ["", "\n", "\0\xff" * 9000])
async def test_a_folder_whose_owner_cannot_be_told_is_nobodys_to_take(
    tmp_path: Path, said: str
) -> None:
    (tmp_path / OWNER_FILE).write_text(said, encoding="utf-8")
    with pytest.raises(Conflict):
        await folder(tmp_path).claim()


async def test_of_many_that_claim_at_once_one_has_it(tmp_path: Path) -> None:
    refused: list[str] = []

    async def claim(identity: str) -> None:
        try:
            await folder(tmp_path, identity).claim()
        except Conflict:
            refused.append(identity)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(claim, str(number))
    owner = (tmp_path / OWNER_FILE).read_text(encoding="utf-8").splitlines()[0]
    assert {*refused, owner} == {str(number) for number in range(20)}
    assert len(refused) == 19
    assert os.listdir(tmp_path) == [OWNER_FILE]


async def test_a_virtualenv_is_deleted_and_its_links_are_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    slot = tmp_path / "venvs" / "tone"
    (slot / "lib").mkdir(parents=True)
    (slot / "lib" / "link").symlink_to(kept)
    (slot / "file").symlink_to(kept / "file")
    await folder(slot.parent).remove(slot)
    assert not slot.exists()
    assert (kept / "file").is_file()


async def test_a_link_in_place_of_a_virtualenv_is_deleted_and_not_what_it_leads_to(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    slot = tmp_path / "venvs" / "tone"
    slot.parent.mkdir()
    slot.symlink_to(kept)
    await remove_venv(slot.parent, slot)
    assert not slot.is_symlink()
    assert kept.is_dir()


async def test_what_is_not_there_and_what_is_a_file_can_be_deleted(tmp_path: Path) -> None:
    await remove_venv(tmp_path, tmp_path / "tone")
    (tmp_path / "tone").touch()
    await remove_venv(tmp_path, tmp_path / "tone")
    assert not (tmp_path / "tone").exists()


async def test_a_folder_that_is_spelt_otherwise_is_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "venvs" / "tone").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "venvs")
    await remove_venv(tmp_path / "link", tmp_path / "venvs" / "tone")
    assert not (tmp_path / "venvs" / "tone").exists()


@pytest.mark.parametrize(
    "path", ["outside", "venvs", "venvs/a/b", "venvs/..", "venvs/a/..", f"venvs/{OWNER_FILE}", "/"]
)
async def test_nothing_else_is_deleted(tmp_path: Path, path: str) -> None:
    (tmp_path / "venvs" / "a" / "b").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    await folder(tmp_path / "venvs").claim()
    with pytest.raises(ValueError, match="left alone"):
        await remove_venv(tmp_path / "venvs", tmp_path / path)
    assert (tmp_path / "venvs" / "a" / "b").is_dir()
    assert (tmp_path / "outside").is_dir()
