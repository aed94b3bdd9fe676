"""`script/quickstart` on a checkout that has nothing yet, for a user who has nothing either."""

import os
import shutil
import subprocess
import wave
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .served import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a copy of what git has, or would take, of this working tree."""
    folder = tmp_path_factory.mktemp("checkout") / "a folder with spaces"
    for name in git_files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    return folder


def git_files() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def quickstart(checkout: Path, here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    here.mkdir(exist_ok=True)
    home = here / "home"
    home.mkdir(exist_ok=True)
    kept = ("PATH", "LANG", "PIP_CERT", "PIP_DEFAULT_TIMEOUT", "SSL_CERT_FILE")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    return subprocess.run(
        [checkout / "script" / "quickstart", *words],
        cwd=here,
        env=environment | {"HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )


def seconds_of(path: Path) -> float:
    with wave.open(str(path)) as audio:
        return audio.getnframes() / audio.getframerate()


def processes_of(folder: Path) -> list[str]:
    """Returns the command lines of running processes that name the folder."""
    lines: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue  # it ended while we looked
        if str(folder) in line:
            lines.append(line)
    return lines


def test_it_speaks_twice_and_leaves_nothing_running(checkout: Path, tmp_path: Path) -> None:
    here = tmp_path / "elsewhere"
    first = quickstart(checkout, here, "Hello there, this is a test.")
    assert first.returncode == 0, first.stdout
    assert str(here / "hello.wav") in first.stdout
    assert 1 < seconds_of(here / "hello.wav") < 10
    assert processes_of(checkout) == []

    (here / "hello.wav").unlink()
    second = quickstart(checkout, here, "Hello there, this is a rather longer test of speech.")
    assert second.returncode == 0, second.stdout
    assert "making" not in second.stdout
    assert 1 < seconds_of(here / "hello.wav") < 10
    assert processes_of(checkout) == []
    # Where a user's own configuration and data lie. pip's cache is pip's.
    assert {".config", ".local", "Library"}.isdisjoint(os.listdir(here / "home"))


def test_two_at_once_do_not_disturb_each_other(checkout: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(quickstart, checkout, tmp_path / name) for name in ("one", "two")]
    for run in runs:
        assert run.result().returncode == 0, run.result().stdout
    assert list((checkout / ".quickstart").glob("run-*")) == []


def test_an_environment_left_half_made_is_made_again(checkout: Path, tmp_path: Path) -> None:
    first = quickstart(checkout, tmp_path / "one")
    assert first.returncode == 0, first.stdout
    engine = checkout / ".quickstart" / "venvs" / "hibari"
    (engine / ".unfinished").touch()
    shutil.rmtree(engine / "lib")
    second = quickstart(checkout, tmp_path / "two")
    assert second.returncode == 0, second.stdout
    assert "making hibari" in second.stdout


def test_what_fails_is_shown_with_its_last_lines(checkout: Path, tmp_path: Path) -> None:
    lock = checkout / "packages" / "rhapsode-engine-hibari" / "constraints.txt"
    kept = lock.read_text(encoding="utf-8")
    try:
        lock.write_text(kept.replace("hibari-tts==", "hibari-tts==9999."), encoding="utf-8")
        done = quickstart(checkout, tmp_path / "here")
    finally:
        lock.write_text(kept, encoding="utf-8")
    assert done.returncode == 1
    assert "installing what hibari needs failed" in done.stdout
    assert not (tmp_path / "here" / "hello.wav").exists()
