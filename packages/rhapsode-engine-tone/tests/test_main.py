"""`python -m rhapsode_engine_tone`, as a core starts it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from rhapsode_engine_tone.misbehaviour import VARIABLE


def started(folder: Path, flags: str = "") -> "subprocess.Popen[str]":
    """Starts the worker; it ends when its standard input does."""
    return subprocess.Popen(
        [sys.executable, "-m", "rhapsode_engine_tone"],
        env=os.environ
        | {
            "RHAPSODE_WORKER_LISTEN": f"unix:{folder}/tone.sock",
            "RHAPSODE_WORKER_ENGINE": "tone",
            "RHAPSODE_WORKER_CONTRACT": "1",
            "RHAPSODE_WORKER_LIFELINE": "stdin",
            VARIABLE: flags,
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_it_shakes_hands_and_drains_when_asked_politely(tmp_path: Path) -> None:
    with started(tmp_path) as worker:
        assert worker.stdout
        assert json.loads(worker.stdout.readline())["engine"] == "tone"
        worker.terminate()
        assert worker.stderr
        worker.stderr.read()
    assert worker.returncode == 0


def test_it_stays_when_it_is_to_ignore_that(tmp_path: Path) -> None:
    with started(tmp_path, "ignore-sigterm") as worker:
        assert worker.stdout
        worker.stdout.readline()
        worker.terminate()
        assert worker.stdin
        worker.stdin.close()  # its life line: it would have drained by the signal, with status 0
        assert worker.stderr
        worker.stderr.read()
    assert worker.returncode != 0


def test_what_it_prints_at_the_start_stands_before_its_handshake(tmp_path: Path) -> None:
    with started(tmp_path, "print") as worker:
        assert worker.stdout
        lines = [worker.stdout.readline() for _ in range(3)]
        assert lines[0] == "tone: printed at the start\n"
        assert json.loads(lines[2])["ready"] is True


def test_an_unknown_flag_is_refused_before_the_handshake(tmp_path: Path) -> None:
    with started(tmp_path, "dance") as worker:
        output, errors = worker.communicate()
    assert worker.returncode != 0
    assert output == ""
    assert "dance" in errors


def test_importing_it_serves_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "import rhapsode_engine_tone.__main__"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ran.stdout == ""
