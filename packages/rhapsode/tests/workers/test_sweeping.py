"""Cores that begin at the same moment, in one folder: none sweeps what another has just made."""

import fcntl
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pytest
from rhapsode.workers.sockets import socket_folder

Flock = Callable[[IO[str], int], None]


def begin_another_core(base: Path) -> None:
    """Does what another core does when it begins: it sweeps."""
    with socket_folder(base):
        pass


def test_a_core_whose_folder_is_swept_before_it_is_locked_makes_another(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock: Flock = fcntl.flock
    swept: list[Path] = []

    def begin_another_first(lock: IO[str], how: int) -> None:
        if not swept:
            swept.append(Path(lock.name))
            begin_another_core(short_path)
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", begin_another_first)
    with socket_folder(short_path) as ours:
        assert not swept[0].exists()
        assert ours.is_dir()
        begin_another_core(short_path)
        assert ours.is_dir()


def test_a_core_whose_folder_goes_before_it_has_a_lock_makes_another(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_open = Path.open
    gone: list[Path] = []

    def sweep_first(path: Path, mode: str) -> IO[str]:
        if not gone:
            gone.append(path.parent)
            shutil.rmtree(path.parent)
        return whole_open(path, mode, encoding="utf-8")

    monkeypatch.setattr(Path, "open", sweep_first)
    with socket_folder(short_path) as ours:
        assert ours.is_dir()
        assert ours != gone[0]


def test_a_core_never_waits_for_one_that_sweeps_and_may_be_stopped(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock: Flock = fcntl.flock
    swept: list[Path] = []

    def be_swept_first(lock: IO[str], how: int) -> None:
        if not swept:
            swept.append(Path(lock.name))
            flock(sweeping.enter_context(swept[0].open("r+")), fcntl.LOCK_EX)
            assert how & fcntl.LOCK_NB
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", be_swept_first)
    with ExitStack() as sweeping, socket_folder(short_path) as ours:
        assert ours.is_dir()
        assert ours != swept[0].parent


def test_what_is_being_swept_can_be_taken_by_nobody(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = short_path / "core-1-left"
    left.mkdir()
    (left / ".lock").touch()
    rmtree = shutil.rmtree
    tried: list[Path] = []

    def try_to_take(folder: Path, *, ignore_errors: bool) -> None:
        if folder == left:
            tried.append(folder)
            with (folder / ".lock").open("r+") as lock, pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        rmtree(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", try_to_take)
    with socket_folder(short_path):
        assert tried == [left]
        assert not left.exists()


@pytest.mark.parametrize("name", ["core-12-foo", f"core-{'9' * 30}-foo", "core-1-foo"])
def test_a_file_with_the_name_of_a_cores_folder_stops_nobody(short_path: Path, name: str) -> None:
    stray = short_path / name
    stray.touch()
    with socket_folder(short_path) as ours:
        assert ours.is_dir()
    assert stray.exists()


def test_a_folder_whose_lock_is_no_file_stops_nobody(short_path: Path) -> None:
    (short_path / "core-1-foo" / ".lock").mkdir(parents=True)
    with socket_folder(short_path) as ours:
        assert ours.is_dir()
