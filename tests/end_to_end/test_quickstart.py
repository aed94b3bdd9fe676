"""`script/quickstart` on a checkout that has nothing yet, for a user who has nothing either."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import wave
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from .processes import processes_of
from .served import ROOT

PATIENCE_SECONDS = 20.0

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


def start(checkout: Path, here: Path, *words: str) -> "subprocess.Popen[str]":
    here.mkdir(exist_ok=True)
    home = here / "home"
    home.mkdir(exist_ok=True)
    kept = ("PATH", "LANG", "PIP_CERT", "PIP_DEFAULT_TIMEOUT", "SSL_CERT_FILE")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    return subprocess.Popen(
        [checkout / "script" / "quickstart", *words],
        cwd=here,
        env=environment | {"HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def quickstart(checkout: Path, here: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    with start(checkout, here, *words) as process:
        output, _ = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, output)


def lines_until(process: "subprocess.Popen[str]", mark: str) -> str:
    """Returns what it says up to a line with the mark, or all there is if none comes."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if mark in line:
            break
    return said


@contextmanager
def taken(port: int) -> Generator[None]:
    """Sees to it that somebody listens on a port of the loopback: we, if nobody does."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            listener.bind(("127.0.0.1", port))
            listener.listen()
        yield


def seconds_of(path: Path) -> float:
    with wave.open(str(path)) as audio:
        return audio.getnframes() / audio.getframerate()


def processes_that_stay(folder: Path) -> list[str]:
    """Returns the command lines of those that do not end by themselves.

    A command that was being started when the signal came has lost its parent; it ends with the
    server that it talks to.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    while (left := processes_of(folder)) and time.monotonic() < until:
        pass
    return left


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
    assert processes_of(checkout) == []


def test_the_ending_of_the_file_says_the_format(checkout: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    done = quickstart(checkout, here, "-o", "hello.mp3", "Hello.")
    assert done.returncode == 0, done.stdout
    assert str(here / "hello.mp3") in done.stdout
    assert (here / "hello.mp3").read_bytes()[0] == 0xFF


def test_a_server_that_stays_says_which_port_it_has_and_does_not_speak(
    checkout: Path, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "hello.wav").write_bytes(b"of an earlier run")
    with taken(8080), start(checkout, here, "--serve") as process:
        said = lines_until(process, "log:")
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate()
    assert process.returncode == 0, said + rest
    assert "8080 is taken" in said
    assert ":8080" not in said
    assert (here / "hello.wav").read_bytes() == b"of an earlier run"
    assert processes_of(checkout) == []


def test_a_port_that_was_asked_for_and_is_taken_is_a_failure(
    checkout: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = quickstart(checkout, tmp_path / "here", "--serve", "--port", port)
    assert done.returncode == 1
    assert port in done.stdout


def test_a_run_that_fails_names_the_log(checkout: Path, tmp_path: Path) -> None:
    done = quickstart(checkout, tmp_path / "here", "-o", "hello.xyz", "Hello.")
    assert done.returncode == 1
    assert ".xyz" in done.stdout
    log = checkout / ".quickstart" / "server.log"
    assert str(log) in done.stdout
    assert "listens on" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_interrupted_leaves_nothing(
    checkout: Path, tmp_path: Path, number: signal.Signals
) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("ignored here, and so by whatever is started here, as under nohup")
    with start(checkout, tmp_path / "here", "A rather long text. " * 40) as process:
        said = lines_until(process, "server ready")
        process.send_signal(number)
        rest, _ = process.communicate()
    assert process.returncode not in (0, -number), said + rest
    assert processes_that_stay(checkout) == []


def test_while_one_stays_the_next_one_speaks_through_it(checkout: Path, tmp_path: Path) -> None:
    with start(checkout, tmp_path / "one", "--serve") as staying:
        lines_until(staying, "log:")
        done = quickstart(checkout, tmp_path / "two", "Hello.")
        third = quickstart(checkout, tmp_path / "three", "--serve")
        staying.send_signal(signal.SIGINT)
        rest, _ = staying.communicate()
    assert done.returncode == 0, done.stdout
    assert "running already" in done.stdout
    assert seconds_of(tmp_path / "two" / "hello.wav") > 0.3
    assert third.returncode == 1
    assert "is running, at http://" in third.stdout
    assert staying.returncode == 0, rest
    assert processes_of(checkout) == []


@pytest.mark.skipif(sys.platform != "linux", reason="nobody else ends what a killed run started")
def test_a_run_that_is_killed_takes_its_server_along(checkout: Path, tmp_path: Path) -> None:
    with start(checkout, tmp_path / "one", "--serve") as process:
        lines_until(process, "log:")
        process.kill()
    assert processes_that_stay(checkout) == []
    done = quickstart(checkout, tmp_path / "two", "Hello.")
    assert done.returncode == 0, done.stdout


def test_an_install_that_was_cut_short_is_done_again(checkout: Path, tmp_path: Path) -> None:
    shutil.rmtree(checkout / ".quickstart", ignore_errors=True)
    with start(checkout, tmp_path / "one", "Hello.") as process:
        lines_until(process, "installing hibari")
        process.kill()
    assert processes_that_stay(checkout) == []
    second = quickstart(checkout, tmp_path / "two", "Hello.")
    assert second.returncode == 0, second.stdout
    assert "installing hibari" in second.stdout


def test_an_engine_is_built_anew_when_its_sources_change(checkout: Path, tmp_path: Path) -> None:
    first = quickstart(checkout, tmp_path / "one", "Hello.")
    assert first.returncode == 0, first.stdout
    source = checkout / "packages" / "rhapsode-engine-hibari" / "src" / "rhapsode_engine_hibari"
    with (source / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("CHANGED = True\n")
    second = quickstart(checkout, tmp_path / "two", "Hello.")
    assert second.returncode == 0, second.stdout
    assert "installing hibari" in second.stdout
    copies = (checkout / ".quickstart" / "venvs").rglob("rhapsode_engine_hibari/__init__.py")
    assert ["CHANGED" in path.read_text(encoding="utf-8") for path in copies] == [True]


def test_what_fails_is_shown_with_its_last_lines(checkout: Path, tmp_path: Path) -> None:
    lock = checkout / "packages" / "rhapsode-engine-hibari" / "constraints.txt"
    kept = lock.read_text(encoding="utf-8")
    try:
        lock.write_text(kept.replace("hibari-tts==", "hibari-tts==9999."), encoding="utf-8")
        done = quickstart(checkout, tmp_path / "here")
    finally:
        lock.write_text(kept, encoding="utf-8")
    assert done.returncode == 1
    assert "installing hibari failed" in done.stdout
    assert "9999" in done.stdout
    assert not (tmp_path / "here" / "hello.wav").exists()
