"""The folder of sockets."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rhapsode.workers.sockets import SocketFolderRefused, socket_folder, socket_path


@pytest.mark.contract("d.sockets.private")
def test_the_folder_is_ours_alone_and_goes_with_the_block(tmp_path: Path) -> None:
    with socket_folder(tmp_path / "base") as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        (folder / "tone.sock").touch()
    assert not folder.exists()


def test_two_cores_have_a_folder_each(tmp_path: Path) -> None:
    with socket_folder(tmp_path) as one, socket_folder(tmp_path) as two:
        assert one != two


def test_what_a_killed_core_left_is_swept_and_what_a_living_one_has_is_not(tmp_path: Path) -> None:
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        check=True,
        text=True,
    )
    left = tmp_path / f"core-{int(dead.stdout)}-abc"
    living = tmp_path / f"core-{os.getppid()}-abc"
    foreign = tmp_path / "something-else"
    for folder in (left, living, foreign):
        folder.mkdir()
    with socket_folder(tmp_path):
        assert (left.exists(), living.exists(), foreign.exists()) == (False, True, True)


def test_a_killed_cores_folder_is_swept_though_its_pid_has_come_again(tmp_path: Path) -> None:
    left = tmp_path / f"core-{os.getpid()}-abc"
    left.mkdir()
    (left / ".lock").touch()
    with socket_folder(tmp_path) as ours:
        assert not left.exists()
        with socket_folder(tmp_path):
            assert ours.exists()


def test_a_folder_that_others_may_write_into_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(SocketFolderRefused, match="others may write"), socket_folder(tmp_path):
        pass


def test_a_file_in_its_place_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SocketFolderRefused), socket_folder(tmp_path / "file"):
        pass


@contextmanager
def as_nobody() -> Generator[None]:
    """Is another user for the length of a block, where we are the one whom no mode stops."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("mode", [0o300, 0o500])
def test_a_folder_that_we_cannot_list_or_write_is_refused_in_words(
    short_path: Path, mode: int
) -> None:
    short_path.chmod(0o755)
    base = short_path / "base"
    base.mkdir()
    if os.geteuid() == 0:
        os.chown(base, 65534, -1)
    base.chmod(mode)
    with (
        as_nobody(),
        pytest.raises(SocketFolderRefused, match=r"workers\.socketDir.*denied"),
        socket_folder(base),
    ):
        pass


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="macOS has no such folder")
def test_a_folder_in_which_no_folder_can_be_made_is_refused_in_words() -> None:
    with pytest.raises(SocketFolderRefused), socket_folder(Path("/proc/self")):
        pass


def test_a_path_that_no_socket_can_have_is_refused_in_words() -> None:
    assert socket_path(Path("/run/r"), "tone") == Path("/run/r/tone.sock")
    with pytest.raises(SocketFolderRefused, match=r"workers\.socketDir.*bytes"):
        socket_path(Path("/run") / ("x" * 90), "tone")
