"""One command of an install."""

import os
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from rhapsode.installs.command import Command, run
from rhapsode_contract import Internal, ModelUnavailable

from .reports import KeptReport

pytestmark = pytest.mark.anyio


def python(code: str, cwd: Path) -> Command:
    """Gives a command that runs some Python."""
    return Command((sys.executable, "-S", "-u", "-c", code), {"PATH": os.defpath}, cwd)


def holding(fifo: Path) -> str:
    """Gives Python that holds a FIFO open for as long as it lives, and then waits for ever."""
    return f"import signal; held = open({str(fifo)!r}, 'w'); signal.pause()"


in_thread = partial(anyio.to_thread.run_sync, abandon_on_cancel=True)
"""For what may block for ever where a test fails."""


async def until_let_go(fifo: Path) -> None:
    """Returns once every process that held the FIFO has ended."""
    await in_thread(fifo.read_bytes)


@pytest.mark.contract("10.building.lines")
async def test_lines_come_one_by_one_while_it_runs(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    code = f"print('first'); open({str(fifo)!r}).read(); print('second')"

    def answer(line: str) -> None:
        # Only who has heard the first line lets it go on to the second.
        if line == "first":
            os.close(os.open(fifo, os.O_WRONLY))

    report = KeptReport(heard=answer)
    with anyio.fail_after(20):
        said = await run(python(code, tmp_path), report)
    assert said == report.lines == ["first", "second"]


async def test_both_streams_are_heard_to_their_end_and_cleaned(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "os.write(2, b'\\x1b[31mred\\x1b[0m\\n\\n 1%\\r 99%\\rdone\\n\\xff')\n"
        "os.write(1, b'x' * 200_000)"
    )
    with anyio.fail_after(20):
        said = await run(python(code, tmp_path))
    assert [line for line in said if not line.startswith("x")] == ["red", "done", "�"]
    assert max(map(len, said)) < 1100


async def test_a_failure_names_the_command_and_quotes_why(tmp_path: Path) -> None:
    code = "print('ERROR: no such thing'); print('see the log'); raise SystemExit(3)"
    with anyio.fail_after(20), pytest.raises(Internal) as failure:
        await run(python(code, tmp_path))
    assert f"{sys.executable} -S -u -c " in failure.value.message
    assert failure.value.message.endswith("failed with exit status 3: no such thing")
    assert not failure.value.retryable


async def test_a_failure_that_may_pass_may_be_tried_again(tmp_path: Path) -> None:
    code = "raise SystemExit('ERROR: OSError: [Errno 28] No space left on device')"
    with anyio.fail_after(20), pytest.raises(ModelUnavailable, match="No space left") as failure:
        await run(python(code, tmp_path))
    assert failure.value.retryable


async def test_one_that_is_killed_says_by_what(tmp_path: Path) -> None:
    code = "import os; os.kill(os.getpid(), 9)"
    with anyio.fail_after(20), pytest.raises(Internal, match="SIGKILL: it said nothing"):
        await run(python(code, tmp_path))


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    command = Command((str(tmp_path / "nothing"),), {}, tmp_path)
    with anyio.fail_after(20), pytest.raises(Internal, match=r"nothing.*No such file"):
        await run(command)


async def test_it_is_asked_nothing(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        assert await run(python("import sys; print([sys.stdin.read()])", tmp_path)) == ["['']"]


@pytest.mark.contract("10.building.cancelled")
async def test_a_cancellation_leaves_nothing_of_it(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    code = (
        "import subprocess, sys\n"
        # Held before anybody hears of it: else nobody may ever have held it.
        f"first = open({str(fifo)!r}, 'w')\n"
        f"subprocess.Popen([sys.executable, '-S', '-c', {holding(fifo)!r}])\n"
        f"print('started')\n{holding(fifo)}"
    )
    report = KeptReport()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as ends:
            ends.start_soon(until_let_go, fifo)
            async with anyio.create_task_group() as tasks:
                report.heard = lambda _: tasks.cancel_scope.cancel()
                tasks.start_soon(run, python(code, tmp_path), report)
    assert report.lines == ["started"]


@pytest.mark.slow
@pytest.mark.contract("10.building.core-gone")
async def test_it_ends_when_the_core_is_killed(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    core = (
        "import anyio, os, sys\n"
        "from pathlib import Path\n"
        "from rhapsode.installs.command import Command, run\n"
        f"words = (sys.executable, '-S', '-c', {holding(fifo)!r})\n"
        "anyio.run(run, Command(words, dict(os.environ), Path('.')))"
    )
    with anyio.fail_after(40):
        async with await anyio.open_process([sys.executable, "-c", core], cwd=tmp_path) as process:
            # Somebody holds it once it is open: the command runs.
            reader = await in_thread(os.open, fifo, os.O_RDONLY)
            process.kill()
            assert await in_thread(os.read, reader, 1) == b""  # and nobody does any more
            os.close(reader)
