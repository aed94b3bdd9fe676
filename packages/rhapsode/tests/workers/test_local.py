"""What a process of ours cannot be started in, or leaves behind."""

import logging
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.worker import Worker
from rhapsode_contract import Internal

pytestmark = pytest.mark.anyio

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]

LEAVES_A_FOLDER = """
import os, sys
os.mkdir(os.environ["RHAPSODE_WORKER_LISTEN"].removeprefix("unix:"))
sys.exit("a folder is no socket")
"""

SHOUTS = """
import sys
sys.stdout.write("[" * 60_000 + "\\n")
"""


@pytest.fixture
def shouting() -> EngineEntry:
    """Gives the entry of a tone engine that first says what a reader of JSON may choke on."""
    code = SHOUTS + (
        "from rhapsode_engine_tone.engine import ToneEngine\n"
        "from rhapsode_worker import serve\n"
        "sys.stdout.flush()\n"
        "serve(ToneEngine())"
    )
    return EngineEntry(command=(sys.executable, "-c", code))


@asynccontextmanager
async def refused(open_worker: OpenWorker, entry: EngineEntry) -> AsyncGenerator[Internal]:
    """Gives the error of a worker that does not start."""
    async with open_worker(entry, max_restarts=0) as worker:
        with pytest.raises(Internal) as refusal:
            await worker.ensure_up()
        yield refusal.value


async def test_what_cannot_be_removed_where_a_socket_was_costs_one_line_and_nobody_else(
    open_worker: OpenWorker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    entry = EngineEntry(command=(sys.executable, "-c", LEAVES_A_FOLDER))
    async with refused(open_worker, entry) as error:
        # Its own words, and not those of our cleaning up.
        assert "a folder is no socket" in error.message
    lines = [one.getMessage() for one in caplog.records if one.name == "rhapsode.workers.local"]
    assert len(lines) == 1
    assert "tone.sock cannot be removed" in lines[0]


async def test_a_folder_that_is_not_there_is_named_and_not_the_program(
    open_worker: OpenWorker, tmp_path: Path
) -> None:
    entry = EngineEntry(venv=Path(sys.prefix), cwd=tmp_path / "none")
    async with refused(open_worker, entry) as error:
        assert f"cwd: {tmp_path / 'none'}: No such file" in error.message
        assert "bin/python" not in error.message


async def test_a_program_that_is_not_there_is_named_and_not_the_folder(
    open_worker: OpenWorker, tmp_path: Path
) -> None:
    entry = EngineEntry(venv=tmp_path / "venv", cwd=tmp_path)
    async with refused(open_worker, entry) as error:
        assert f"{tmp_path}/venv/bin/python: No such file" in error.message
        assert "cwd" not in error.message


async def test_a_handshake_is_heard_behind_any_noise(
    open_worker: OpenWorker, shouting: EngineEntry
) -> None:
    async with open_worker(shouting) as worker:
        with anyio.fail_after(20):
            assert (await worker.ensure_up()).capabilities.engine.id == "tone"
