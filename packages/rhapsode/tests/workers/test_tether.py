"""The tie between the core and a worker that cannot read its lifeline yet."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import rhapsode.workers

TETHER = Path(rhapsode.workers.__file__).with_name("tether.py")
PRINTS = "import os; print(os.getpid(), flush=True)"
HANGS = PRINTS + "; import signal; signal.pause()"
DIES_FIRST = (
    "import subprocess, sys;"
    " subprocess.Popen([sys.executable, '-I', '-S', *sys.argv[1:]], start_new_session=True);"
    " import signal; signal.pause()"
)
"""A program: a core that starts what it is told to and waits to be killed."""


def tethered(core: int, *command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(TETHER), str(core), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_it_becomes_the_command() -> None:
    with tethered(os.getpid(), sys.executable, "-c", PRINTS + "; raise SystemExit(7)") as child:
        assert child.stdout is not None
        assert int(child.stdout.read()) == child.pid
        assert child.wait(20) == 7


def test_a_command_that_is_not_there_is_said_so() -> None:
    with tethered(os.getpid(), "/nowhere/bin/python") as child:
        assert child.stderr is not None
        assert b"/nowhere/bin/python: No such file" in child.stderr.read()
        assert child.wait(20) == 127


def test_a_core_that_went_first_is_not_outlived() -> None:
    with tethered(os.getppid(), sys.executable, "-c", PRINTS) as child:
        assert child.stdout is not None
        assert child.stdout.read() == b""
        assert child.wait(20) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_what_does_not_read_its_lifeline_ends_with_the_core() -> None:
    words = [sys.executable, "-c", HANGS]
    # The core's own pid is known to nobody before it runs: the shell's words name it.
    start = f"import os, sys; sys.argv.insert(2, str(os.getpid())); {DIES_FIRST}"
    with subprocess.Popen(
        [sys.executable, "-c", start, str(TETHER), *words], stdout=subprocess.PIPE
    ) as core:
        assert core.stdout is not None
        worker = os.pidfd_open(int(core.stdout.readline()))
        try:
            core.kill()
            # The pipe ends when its last holder is gone, which is the worker.
            assert core.stdout.read() == b""
        finally:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(worker, signal.SIGKILL)
            os.close(worker)
