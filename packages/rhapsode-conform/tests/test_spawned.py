"""A worker process lives no longer than a block, and what it says is kept."""

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest
from rhapsode_conform.spawned import Spawned, Start, spawned
from rhapsode_http import UnixAddress

pytestmark = pytest.mark.anyio

READY = '{"ready": true}'


def start(program: str, **fields: object) -> Start:
    command = (sys.executable, "-S", "-E", "-c", f"import os, signal, sys, time\n{program}")
    values: dict[str, object] = {
        "command": command,
        "environment": {"PATH": os.defpath},
        "listen": UnixAddress(Path("/nowhere/a.sock")),
        "engine": "raw",
        **fields,
    }
    return Start(**values)  # type: ignore[arg-type]  # a test's own fields


async def test_it_is_told_what_the_core_tells() -> None:
    program = f"print({READY!r}); print(sorted(k for k in os.environ if k[0] == 'R'), flush=True)\n"
    program += "sys.stdin.read()"
    with anyio.fail_after(30):
        async with spawned(start(program)) as worker:
            await worker.cut_lifeline()
            assert await worker.exited() == 0
    assert worker.lines[1] == str(
        [
            "RHAPSODE_WORKER_CONTRACT",
            "RHAPSODE_WORKER_ENGINE",
            "RHAPSODE_WORKER_LIFELINE",
            "RHAPSODE_WORKER_LISTEN",
        ]
    )


async def test_it_leads_a_session_of_its_own() -> None:
    program = f"print({READY!r}); print(os.getsid(0) == os.getpid(), flush=True); sys.stdin.read()"
    with anyio.fail_after(30):
        async with spawned(start(program)) as worker:
            await worker.cut_lifeline()
            await worker.exited()
    assert worker.lines[1] == "True"


async def test_lines_before_the_handshake_are_kept_and_are_none() -> None:
    program = f"print('loading'); print('{{}}'); print({READY!r}, flush=True); sys.stdin.read()"
    with anyio.fail_after(30):
        async with spawned(start(program)) as worker:
            assert worker.handshake == {"ready": True}
            assert worker.lines[:2] == ["loading", "{}"]


async def test_one_that_ends_without_a_word_is_not_waited_for() -> None:
    with anyio.fail_after(30):
        async with spawned(start("sys.exit('out of luck')")) as worker:
            assert worker.handshake == {}
            assert worker.status == 1
            assert worker.last_words == "out of luck"


async def test_nothing_of_its_group_outlives_the_block(tmp_path: Path) -> None:
    # A child that hears no SIGTERM, left behind by a leader that ends of it; while it lives it
    # holds a pipe open.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    program = (
        "if not os.fork():\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"    held = open({str(pipe)!r}, 'w')\n"
        f"    print({READY!r}, flush=True)\n"
        "time.sleep(1000)"
    )
    try:
        with anyio.fail_after(30):
            async with spawned(start(program)) as worker:
                with pytest.raises(BlockingIOError):
                    os.read(reader, 1)
            assert worker.status == -signal.SIGTERM
            await anyio.wait_readable(reader)
            assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


async def test_a_cancelled_block_leaves_no_process() -> None:
    started: list[Spawned] = []
    with anyio.fail_after(30):
        with anyio.CancelScope() as scope:
            program = f"print({READY!r}, flush=True); time.sleep(1000)"
            async with spawned(start(program)) as worker:
                started.append(worker)
                scope.cancel()
                await anyio.sleep_forever()
        assert started[0].status == -signal.SIGKILL
