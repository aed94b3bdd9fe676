"""A disk that fills up while a voice is made."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

NEEDS_MOUNTS = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs to mount a small disk"
)

MOUNT = 'mount -t tmpfs -o size=128k none "$0" && exec "$@"'
"""A disk of its own, gone with the process."""


def heard_by(folder: Path, limit: str, *before: str) -> list[str]:
    """Makes voices with ever more room, and returns what was heard until one could be made."""
    folder.mkdir()
    done = subprocess.run(
        [*before, sys.executable, HERE / "filling.py", folder, limit],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.stderr.startswith(("mount: ", "unshare: ")):
        pytest.skip("nothing may be mounted here")
    assert done.returncode == 0, done.stderr
    heard: list[str] = json.loads(done.stdout)
    return heard


@NEEDS_MOUNTS
def test_a_full_disk_is_a_clear_error_and_leaves_what_was_there(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    heard = heard_by(disk, "disk", "unshare", "--mount", "sh", "-c", MOUNT, str(disk))
    assert len(heard) > 2
    assert all("No space left on device" in message for message in heard)


def test_a_file_that_may_not_grow_is_a_clear_error_and_leaves_what_was_there(
    tmp_path: Path,
) -> None:
    heard = heard_by(tmp_path / "folder", "file")
    assert len(heard) > 2
    assert all("File too large" in message for message in heard)
