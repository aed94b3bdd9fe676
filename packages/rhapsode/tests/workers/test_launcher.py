"""The launcher of commands that are not ours."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import rhapsode.workers

LAUNCHER = Path(rhapsode.workers.__file__).with_name("launcher.py")
HELD = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"


def launched(*command: str, inherited: tuple[int, ...] = ()) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(LAUNCHER), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=inherited,
    )


def test_the_commands_end_is_its_own() -> None:
    with launched(sys.executable, "-c", "import sys; print('out'); sys.exit(7)") as child:
        assert child.stdout is not None
        assert child.stdout.read() == b"out\n"
        assert child.wait(20) == 7


def test_a_command_that_was_killed_is_told_from_one_that_gave_up() -> None:
    with launched(sys.executable, "-c", HELD) as child:
        assert child.stdout is not None
        os.kill(int(child.stdout.readline()), signal.SIGKILL)
        assert child.wait(20) == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGPIPE, signal.SIGINT, signal.SIGTERM])
def test_signals_that_python_takes_or_ignores_are_told_too(
    number: signal.Signals,
) -> None:
    code = "import os, signal, sys; number = int(sys.argv[1]);"
    code += " signal.signal(number, signal.SIG_DFL); os.kill(os.getpid(), number)"
    with launched(sys.executable, "-c", code, str(int(number))) as child:
        assert child.stderr is not None
        assert child.stderr.read() == b""
        assert child.wait(20) == -number


def test_a_command_has_no_descriptors_but_its_own() -> None:
    ours, theirs = os.pipe()
    try:
        code = "import os; print(sorted(map(int, os.listdir('/dev/fd')))[:4])"
        with launched(sys.executable, "-c", code, inherited=(ours,)) as child:
            assert child.stdout is not None
            assert child.stdout.read() == b"[0, 1, 2, 3]\n"  # 3 lists them
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_signal_goes_on_to_the_command() -> None:
    code = "import signal, sys; signal.signal(15, lambda *_: sys.exit(0)); "
    with launched(sys.executable, "-c", code + "print(1, flush=True); signal.pause()") as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.terminate()
        assert child.wait(20) == 0


def test_the_end_of_the_lifeline_is_the_end_of_the_command() -> None:
    with launched(sys.executable, "-c", HELD) as child:
        assert child.stdout is not None and child.stdin is not None
        child.stdout.readline()
        child.stdin.close()
        assert child.wait(20) == -signal.SIGKILL
        # The pipe ends when its last holder is gone: the command, which is a child of the launcher.
        assert child.stdout.read() == b""


def test_the_command_cannot_read_the_lifeline() -> None:
    code = "import sys; print(repr(sys.stdin.read()))"
    with launched(sys.executable, "-c", code) as child:
        assert child.stdout is not None
        assert child.stdout.read() == b"''\n"


def test_a_command_that_is_not_there_is_said_so() -> None:
    with launched("/nowhere/serve") as child:
        assert child.stderr is not None
        assert b"/nowhere/serve" in child.stderr.read()
        assert child.wait(20) == 127
