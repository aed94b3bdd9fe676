"""A disk without room for the weights is a clear error, with nothing left behind."""

import errno
import os
import shutil
import subprocess
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from .depot import Depot
from .stock import (
    GRAPH,
    RIGHT,
    TOTAL_BYTES,
    VARIANT,
    VOICES,
    fill_page,
    hashes_in,
    left_in,
    make_wheels,
    only_here,
)
from .worker import ELSEWHERE, Worker, refusal, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs to mount a small disk"
    ),
]

BODY: Final = {"variant": VARIANT}

MOUNT: Final = 'mount -t tmpfs -o size="$1" none "$0" && shift && exec "$@"'
"""Gives the process that comes of it a disk of its own, gone with the process."""


@contextmanager
def on_a_disk_of(
    size_bytes: int, folder: Path, depot: Depot, environ: Mapping[str, str]
) -> Generator[tuple[Worker, Path]]:
    """Runs a worker whose weights lie on a small disk; gives it, and the disk as seen from here."""
    folder.mkdir()
    before = ["unshare", "--mount", "sh", "-c", MOUNT, str(folder), str(size_bytes)]
    if subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")
    with running(folder, ELSEWHERE, depot.address, environ=environ, before=before) as worker:
        yield worker, Path(f"/proc/{worker.pid}/root{folder}")


def test_room_is_asked_for_before_a_byte_is_fetched(depot: Depot, tmp_path: Path) -> None:
    fill_page(depot)
    small = on_a_disk_of(TOTAL_BYTES // 2, tmp_path / "disk", depot, only_here(depot))
    with small as (worker, disk):
        for path in ("/fetch", "/load"):
            status, code, message = refusal(worker.post(path, BODY))
            assert (status, code) == (503, "model_unavailable")
            for said in (str(tmp_path / "disk"), f"{TOTAL_BYTES:,} bytes needed", "free"):
                assert said in message
        assert left_in(disk) == set()
    assert depot.asked == []


def test_a_disk_that_others_fill_meanwhile_is_named_and_what_is_whole_stays(
    depot: Depot, tmp_path: Path
) -> None:
    fill_page(depot)
    room = TOTAL_BYTES + VOICES.size_bytes + (1 << 20)  # the archive of the voices lies there too
    large = on_a_disk_of(room, tmp_path / "disk", depot, only_here(depot))
    with large as (worker, disk):
        with ThreadPoolExecutor(1) as beside:
            coming = beside.submit(worker.post, "/fetch", BODY)
            depot.send_only(GRAPH.size_bytes + VOICES.size_bytes // 2)
            fill(disk / "filler")
            depot.send_freely()
            status, code, message = refusal(coming.result(60))
        assert (status, code) == (503, "model_unavailable")
        for said in (str(tmp_path / "disk"), f"{VOICES.size_bytes:,} bytes are missing"):
            assert said in message
        assert left_in(disk) == {GRAPH.name, "filler"}
        assert not (disk / ".fetch").exists()
        (disk / "filler").unlink()
        assert worker.post("/fetch", BODY).status_code == 204
        assert hashes_in(disk) == RIGHT


def test_a_disk_without_room_for_what_the_package_index_sends_is_named_and_left_empty(
    depot: Depot, tmp_path: Path
) -> None:
    """Its wheels lie beside the file that is joined of them, which nobody can know before."""
    make_wheels(tmp_path / "wheels")
    environ = only_here(depot, tmp_path / "wheels")
    with on_a_disk_of(TOTAL_BYTES + 1, tmp_path / "disk", depot, environ) as (worker, disk):
        status, code, message = refusal(worker.post("/fetch", BODY))
        assert (status, code) == (503, "model_unavailable")
        assert "ran out of room" in message
        assert left_in(disk) == set()
        assert not (disk / ".fetch").exists()


def fill(path: Path) -> None:
    """Writes until the disk is full."""
    with path.open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(1 << 16))
        except OSError as error:
            assert error.errno == errno.ENOSPC
