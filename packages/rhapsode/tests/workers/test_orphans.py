"""Processes that have outlived the core that started them."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rhapsode.workers.orphans import end_orphans
from rhapsode.workers.sockets import socket_folder

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="processes are found in /proc"
)


@contextmanager
def worker(folder: Path) -> Generator["subprocess.Popen[bytes]"]:
    """Runs what was given a socket in a folder and sees no lifeline."""
    environ = {"PATH": os.defpath, "RHAPSODE_WORKER_LISTEN": f"unix:{folder}/tone.sock"}
    code = "print(flush=True); import signal; signal.pause()"
    with subprocess.Popen([sys.executable, "-c", code], env=environ, stdout=-1) as process:
        assert process.stdout is not None
        process.stdout.readline()  # from now on its environment is its own
        try:
            yield process
        finally:
            process.kill()


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_workers_of_a_core_that_was_killed_are_ended_and_nobody_else(short_path: Path) -> None:
    dead, living = (short_path / f"core-{pid}-x" for pid in (dead_pid(), os.getpid()))
    dead.mkdir()
    living.mkdir()
    with worker(dead) as orphan, worker(dead) as stopped, worker(living) as other:
        stopped.send_signal(signal.SIGSTOP)
        with socket_folder(short_path):
            assert orphan.wait(10) == -signal.SIGKILL
            assert stopped.wait(10) == -signal.SIGKILL
            assert other.poll() is None
        assert living.exists()
        assert not dead.exists()


def test_a_folder_whose_name_begins_like_another_is_another(short_path: Path) -> None:
    with worker(short_path / "core-12") as other:
        end_orphans(short_path / "core-1")
        assert other.poll() is None
