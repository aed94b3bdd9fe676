"""A server whose engine runs on another machine: here, beside it, on a TCP port."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .core_process import PATIENCE_SECONDS, core, is_alive
from .drill import post, until

pytestmark = pytest.mark.slow


@contextmanager
def remote_tone(port: int = 0) -> Generator[tuple["subprocess.Popen[bytes]", int]]:
    """Runs a tone engine on a port, a free one unless told otherwise; yields it and the port."""
    environ = {
        "RHAPSODE_WORKER_LISTEN": f"tcp:127.0.0.1:{port}",
        "RHAPSODE_WORKER_ENGINE": "tone",
        "RHAPSODE_WORKER_CONTRACT": "1",
    }
    command = [sys.executable, "-m", "rhapsode_engine_tone"]
    with subprocess.Popen(
        command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        try:
            handshake = json.loads(process.stdout.readline())
            yield process, int(handshake["listen"].rpartition(":")[2])
        finally:
            process.kill()


def at(port: int) -> str:
    """Returns the table of an engine at a port."""
    return f'[engines.tone]\nurl = "http://127.0.0.1:{port}"\n'


@pytest.mark.contract("1.remote.url", "2.stop.remote-kept")
def test_a_remote_worker_speaks_ends_when_it_is_asked_to_and_is_used_again(tmp_path: Path) -> None:
    with remote_tone() as (worker, port), core(tmp_path, at(port)) as running:
        for stream in (False, True):
            status, body = running.speak(stream=stream)
            assert (status, body[:4]) == (0, b"RIFF")
        assert running.get("/residency")["models"][0]["engine"] == "tone"
        assert post(running, "/engines/tone/unload") == 200
        assert worker.wait(PATIENCE_SECONDS) == 0
        body = running.speak()[1]
        assert b'"code":"model_unavailable"' in body
        assert f"http://127.0.0.1:{port} cannot be reached".encode() in body
        with remote_tone(port):
            assert running.speak()[1].startswith(b"RIFF")


def test_a_remote_worker_outlives_the_server(tmp_path: Path) -> None:
    with remote_tone() as (worker, port):
        with core(tmp_path, at(port)) as running:
            assert running.speak()[1].startswith(b"RIFF")
            assert running.end() == 0
        assert is_alive(worker.pid)
        with core(tmp_path, at(port)) as running:
            assert running.speak()[1].startswith(b"RIFF")


@pytest.mark.slow
def test_a_remote_worker_that_hangs_is_unavailable_until_it_goes_on(tmp_path: Path) -> None:
    """With the waits that operators have: it is found out within two looks at its health."""
    with remote_tone() as (worker, port), core(tmp_path, at(port)) as running:
        assert running.speak()[1].startswith(b"RIFF")
        os.kill(worker.pid, signal.SIGSTOP)
        until(lambda: running.get("/engines")[0]["process"] != "up", seconds=60)
        assert b'"code":"model_unavailable"' in running.speak()[1]
        os.kill(worker.pid, signal.SIGCONT)
        assert running.speak()[1].startswith(b"RIFF")
