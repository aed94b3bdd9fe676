"""Folders that settings name."""

from pathlib import Path

import pytest
from rhapsode.settings.place import FolderRefused, check_can_be_made, check_folder, tidied


def test_a_folder_that_is_not_there_yet_may_come_to_be(tmp_path: Path) -> None:
    assert check_folder("a.b", tmp_path) == tmp_path
    assert check_folder("a.b", tmp_path / "c" / "d") == tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["file", "file/below", "x" * 300])
def test_what_can_be_no_folder_is_refused_naming_the_setting(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderRefused, match=r"^a\.b: ") as refused:
        check_folder("a.b", tmp_path / name)
    assert refused.value.keys == ("a.b",)


def test_a_link_to_nowhere_is_found_out_by_trying(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("no/where")
    check_folder("a.b", tmp_path / "link")
    with pytest.raises(FolderRefused, match="can't be made"):
        check_can_be_made("a.b", tmp_path / "link")


def test_trying_leaves_what_was_there_and_what_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    check_can_be_made("a.b", tmp_path / "there" / "c" / "d")
    assert list((tmp_path / "there").iterdir()) == []
    with tidied(tmp_path / "e" / "f"):
        (tmp_path / "e" / "f").mkdir(parents=True)
        (tmp_path / "e" / "else").touch()
    assert [one.name for one in (tmp_path / "e").iterdir()] == ["else"]
