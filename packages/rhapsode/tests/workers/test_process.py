"""A child process and its end."""

import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from rhapsode.workers.process import ChildProcess, Hearers, Launch, open_process

pytestmark = pytest.mark.anyio

IsAlive = Callable[[int], bool]

SLEEP = "import time; time.sleep(600)"
STUBBORN = (
    "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
    "print('ready', flush=True)\n" + SLEEP
)
POLITE = (
    "import signal, sys\n"
    "signal.signal(signal.SIGTERM, lambda *_: (print('draining', flush=True), sys.exit(0)))\n"
    "print('ready', flush=True)\n"
    "signal.pause()"
)


@dataclass
class Heard:
    """What a process did."""

    stdout: list[bytes] = field(default_factory=list[bytes])
    stderr: list[bytes] = field(default_factory=list[bytes])
    status: int | None = None
    spoke: anyio.Event = field(default_factory=anyio.Event)

    def hear_stdout(self, line: bytes) -> None:
        self.stdout.append(line)
        self.spoke.set()

    def hear_exit(self, status: int) -> None:
        self.status = status


@asynccontextmanager
async def running(
    code: str, heard: Heard | None = None, grace_seconds: float = 0.3
) -> AsyncGenerator[ChildProcess]:
    heard = heard or Heard()
    command = (sys.executable, "-u", "-c", code)
    launch = Launch(command, {"PATH": os.defpath}, None, grace_seconds)
    hearers = Hearers(stdout=heard.hear_stdout, stderr=heard.stderr.append, exit=heard.hear_exit)
    with anyio.fail_after(20):
        async with open_process(launch, hearers) as process:
            yield process


async def test_a_process_that_drains_exits_by_itself() -> None:
    heard = Heard()
    async with running(POLITE, heard, grace_seconds=10):
        await heard.spoke.wait()
    assert heard.stdout == [b"ready", b"draining"]
    assert heard.status == 0


@pytest.mark.contract("2.stop.kill-after-grace")
async def test_one_that_ignores_sigterm_is_killed_after_the_grace(is_alive: IsAlive) -> None:
    heard = Heard()
    async with running(STUBBORN, heard) as process:
        await heard.spoke.wait()
    assert heard.status == -signal.SIGKILL
    assert not is_alive(process.pid)


async def test_cancelling_the_block_leaves_no_process(is_alive: IsAlive) -> None:
    async with anyio.create_task_group() as tasks, running(STUBBORN) as process:
        tasks.cancel_scope.cancel()
        await anyio.sleep_forever()
    assert not is_alive(process.pid)


async def test_cancelling_the_spawn_leaves_no_process(tmp_path: Path, is_alive: IsAlive) -> None:
    pid_file = tmp_path / "pid"
    code = f"import os; open({str(pid_file)!r}, 'w').write(str(os.getpid())); " + SLEEP
    with anyio.CancelScope() as scope:
        scope.cancel()
        async with running(code):
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    # It leads a group of its own; where it came far enough to say so, that group is gone.
    if pid_file.exists():
        assert not is_alive(int(pid_file.read_text(encoding="utf-8")))


async def test_what_a_process_left_running_ends_with_it(is_alive: IsAlive) -> None:
    heard = Heard()
    child = f"subprocess.Popen([sys.executable, '-c', {SLEEP!r}]).pid"
    async with running(f"import subprocess, sys; print({child}); sys.exit(3)", heard) as process:
        await process.exited()
        await heard.spoke.wait()
    assert heard.status == 3
    await _until_gone(int(heard.stdout[0]), is_alive)


async def test_an_exit_is_seen_although_somebody_else_holds_the_pipes() -> None:
    heard = Heard()
    code = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {SLEEP!r}], start_new_session=True)\n"
        "sys.exit(4)"
    )
    async with running(code.replace("600", "3"), heard) as process:
        with anyio.fail_after(2.5):
            await process.exited()
    assert heard.status == 4


async def test_its_last_words_are_heard_after_its_end() -> None:
    heard = Heard()
    async with running("import sys; sys.exit('x' * 100_000 + '\\nthe reason')", heard) as process:
        await process.exited()
    assert heard.stderr[-1] == b"the reason"


async def test_a_flood_without_a_line_end_stops_neither_side() -> None:
    heard = Heard()
    code = "import sys\nfor _ in range(400): sys.stderr.write('y' * 5_000)"
    async with running(code, heard) as process:
        await process.exited()
    assert sum(map(len, heard.stderr)) == 2_000_000


async def test_a_better_way_to_ask_is_taken_before_a_signal() -> None:
    heard = Heard()
    async with running("input(); print('asked')", heard, grace_seconds=10) as process:

        async def ask() -> bool:
            os.kill(process.pid, signal.SIGINT)
            return True

        await process.end(ask)
    assert heard.status == -signal.SIGINT


async def test_an_ask_that_does_not_land_is_followed_by_the_signal() -> None:
    heard = Heard()
    async with running(POLITE, heard, grace_seconds=10) as process:
        await heard.spoke.wait()

        async def ask() -> bool:
            return False

        await process.end(ask)
    assert heard.status == 0


async def test_a_command_that_cannot_be_run_is_an_os_error() -> None:
    launch = Launch(("/nowhere/python",), {}, None, 1)
    with pytest.raises(OSError, match="nowhere"):
        async with open_process(launch, Hearers(lambda _: None, lambda _: None, lambda _: None)):
            pass


async def test_standard_input_stays_open_until_the_end() -> None:
    heard = Heard()
    code = "import sys; print('ready', flush=True); sys.stdin.read(); print('cut', flush=True)"
    async with running(code, heard) as process:
        await heard.spoke.wait()
        process.kill()
        await process.exited()
    assert heard.stdout == [b"ready"]


async def _until_gone(pid: int, is_alive: IsAlive) -> None:
    """A grandchild is reaped by init, a moment after it was killed."""
    with anyio.fail_after(10):
        while is_alive(pid):  # noqa: ASYNC110  # nobody tells us of somebody else's child
            await anyio.sleep(0.01)
