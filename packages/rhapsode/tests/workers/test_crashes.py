"""A worker's process that ends unasked: restarted, counted, given up; with real processes."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

import anyio
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.patience import Patience
from rhapsode.workers.session import Session
from rhapsode.workers.worker import Worker
from rhapsode_contract import Internal
from rhapsode_http import UpstreamError

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
Tone = Callable[..., EngineEntry]
IsAlive = Callable[[int], bool]

AT_ONCE = Patience(pauses_seconds=(0.0,))
THEN_NEVER = Patience(pauses_seconds=(0.0, 1000.0))
"""The first restart is made at once; nobody waits for the second."""


def python(code: str) -> EngineEntry:
    """A worker that is a line of Python."""
    return EngineEntry(command=(sys.executable, "-c", code))


def sockets(folder: Path) -> list[Path]:
    return list(folder.rglob("*.sock"))


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what nobody is told of."""
    while not is_so():  # noqa: ASYNC110 (a turn of the loop would starve the process)
        await anyio.sleep(0.01)


async def crash(worker: Worker) -> None:
    """Kills the process and waits until that is known."""
    session = await worker.ensure_up()
    os.kill(session.pid, signal.SIGKILL)
    await session.ended.wait()


async def speak_to_the_end(session: Session) -> None:
    with suppress(UpstreamError):
        await session.open("POST", "/speak", b'{"text":"Hello"}')


@pytest.mark.contract("2.crash.restarted")
async def test_a_crash_is_followed_by_a_restart_that_nobody_asked_for(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(unruly, engine="unruly") as worker:
        first = await worker.ensure_loaded("only")
        await crash(worker)
        await until(lambda: worker.summary().process == "up")
        summary = worker.summary()
        assert (summary.model, summary.restarts) == ("unloaded", 1)
        assert (await worker.ensure_up()).pid != first.pid


async def test_a_process_that_was_killed_leaves_no_socket(
    open_worker: OpenWorker, unruly: EngineEntry, short_path: Path
) -> None:
    async with open_worker(unruly, engine="unruly", max_restarts=0) as worker:
        await worker.ensure_up()
        assert len(sockets(short_path)) == 1
        await crash(worker)
        assert sockets(short_path) == []


async def test_a_demand_in_the_pause_waits_for_the_restart(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    patience = Patience(pauses_seconds=(0.3,))
    async with open_worker(unruly, engine="unruly", patience=patience) as worker:
        await crash(worker)
        assert worker.summary().process == "down"
        await worker.ensure_up()
        assert worker.summary().restarts == 1


async def test_an_end_in_the_pause_is_the_end_of_the_pause(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(unruly, engine="unruly", patience=THEN_NEVER) as worker:
        await crash(worker)
        await crash(worker)
        assert worker.summary().process == "down"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.ensure_up)
            await anyio.wait_all_tasks_blocked()
            assert worker.summary().process == "down"
            await worker.end()
        assert worker.summary().process == "up"


@pytest.mark.contract("d.crash.failed")
async def test_an_engine_that_crashed_too_often_has_failed_and_says_why(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(unruly, engine="unruly", max_restarts=1, patience=AT_ONCE) as worker:
        await crash(worker)
        await crash(worker)
        assert worker.summary().process == "failed"
        assert "SIGKILL" in (worker.summary().last_error or "")
        for _ in range(2):
            with pytest.raises(Internal, match="'unruly' has failed.*SIGKILL"):
                await worker.ensure_up()


@pytest.mark.contract("d.crash.failed")
async def test_an_engine_that_has_failed_is_started_once_more_after_the_decay(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(
        unruly, engine="unruly", max_restarts=0, restart_decay_seconds=0.3
    ) as worker:
        await crash(worker)
        assert worker.summary().process == "failed"
        await until(lambda: worker.summary().process == "up")
        await worker.ensure_loaded("only")


async def test_a_start_after_the_decay_that_fails_leaves_the_engine_failed(
    open_worker: OpenWorker, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    entry = python(f"open({str(starts)!r}, 'a').write('.'); raise SystemExit('no luck')")
    async with open_worker(entry, max_restarts=0, restart_decay_seconds=0.1) as worker:
        with pytest.raises(Internal, match="no luck"):
            await worker.ensure_up()
        await until(lambda: starts.read_text() >= "..")
        await until(lambda: worker.summary().process == "failed")


async def test_a_process_that_lived_long_has_its_restarts_back(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    options = {"max_restarts": 1, "restart_decay_seconds": 0.3, "patience": AT_ONCE}
    async with open_worker(unruly, engine="unruly", **options) as worker:
        for _ in range(3):
            await worker.ensure_up()
            await until(lambda: worker.summary().restarts == 0)
            assert worker.summary().last_error is None
            await crash(worker)
            assert worker.summary().process != "failed"


async def test_the_end_of_an_engine_that_has_failed_clears_the_fault(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(unruly, engine="unruly", max_restarts=0) as worker:
        await crash(worker)
        assert worker.summary().process == "failed"
        await worker.end()
        assert (worker.summary().process, worker.summary().restarts) == ("down", 0)
        assert worker.summary().last_error is None
        await worker.ensure_up()


@pytest.mark.contract("2.crash.asked-exit-is-none")
async def test_an_end_that_was_asked_for_is_no_crash_however_late_it_comes(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    """It has heard the verb and hangs in what it still speaks, and the signal is lost on it."""
    entry = tone("ignore-sigterm", "hang-in-speak")
    async with open_worker(entry, grace_seconds=0.3, patience=AT_ONCE) as worker:
        session = await worker.ensure_loaded("plain")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak_to_the_end, session)
            await anyio.wait_all_tasks_blocked()
            await worker.end()
            tasks.cancel_scope.cancel()
        assert not is_alive(session.pid)
        await anyio.wait_all_tasks_blocked()
        summary = worker.summary()
        assert (summary.process, summary.restarts, summary.last_error) == ("down", 0, None)


@pytest.mark.contract("2.crash.asked-exit-is-none")
async def test_a_process_that_is_killed_while_it_drains_has_not_crashed(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone(), grace_seconds=30, patience=AT_ONCE) as worker:
        session = await worker.ensure_loaded("plain")
        async with anyio.create_task_group() as tasks:
            os.killpg(session.pid, signal.SIGSTOP)
            tasks.start_soon(worker.end)
            await until(lambda: worker.summary().process == "draining")
            os.kill(session.pid, signal.SIGKILL)
        await anyio.wait_all_tasks_blocked()
        assert (worker.summary().process, worker.summary().restarts) == ("down", 0)


HANDSHAKE = (
    "import os,time;"
    'print(\'{{"ready":true,"contract":{contract},"engine":"{engine}","listen":"\''
    "+os.environ['RHAPSODE_WORKER_LISTEN']+'\"}}',flush=True);time.sleep(60)"
)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit('not today')", "not today"),
        (HANDSHAKE.format(contract=9, engine="tone"), "contract 9"),
        (HANDSHAKE.format(contract=1, engine="viola"), "'viola'"),
    ],
)
async def test_a_hopeless_start_is_made_again_when_somebody_asks_and_not_before(
    open_worker: OpenWorker, tmp_path: Path, code: str, said: str
) -> None:
    starts = tmp_path / "starts"
    entry = python(f"open({str(starts)!r}, 'a').write('.');{code}")
    async with open_worker(entry, grace_seconds=0.2, patience=AT_ONCE) as worker:
        for count in (1, 2):
            with pytest.raises(Internal, match=said):
                await worker.ensure_up()
            await anyio.wait_all_tasks_blocked()
            assert worker.summary().process == "down"
            assert said in (worker.summary().last_error or "")
            assert starts.read_text() == "." * count


async def test_a_start_that_was_cut_short_is_made_again_by_itself(
    open_worker: OpenWorker, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    code = (
        f"import os;open({str(starts)!r}, 'a').write('.')\n"
        f"if os.path.getsize({str(starts)!r}) == 1: os.kill(os.getpid(), 9)\n"
        "from rhapsode_engine_tone.engine import ToneEngine\n"
        "from rhapsode_worker import serve\n"
        "serve(ToneEngine())"
    )
    async with open_worker(python(code), patience=AT_ONCE) as worker:
        with pytest.raises(Exception, match="SIGKILL"):
            await worker.ensure_up()
        await until(lambda: worker.summary().process == "up")


async def test_a_shutdown_in_a_pause_starts_nothing_more(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(unruly, engine="unruly", patience=THEN_NEVER) as worker:
        await crash(worker)
        await crash(worker)
    assert worker.summary().process == "down"


async def test_a_shutdown_in_a_start_leaves_nothing(
    open_worker: OpenWorker, tmp_path: Path, is_alive: IsAlive
) -> None:
    said = tmp_path / "pid"
    code = f"import os,time;open({str(said)!r},'w').write(str(os.getpid())+';');time.sleep(60)"
    async with (
        open_worker(python(code), grace_seconds=0.2) as worker,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(worker.ensure_up)
        await until(lambda: said.exists() and said.read_text().endswith(";"))
        assert worker.summary().process == "starting"
        tasks.cancel_scope.cancel()
    assert not is_alive(int(said.read_text()[:-1]))
    assert worker.summary().process == "down"


async def test_a_shutdown_in_a_load_leaves_nothing(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    async with open_worker(tone("hang-in-load"), grace_seconds=0.2) as worker:
        pid = (await worker.ensure_up()).pid
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.ensure_loaded, "plain")
            await until(lambda: worker.summary().model == "loading")
            tasks.cancel_scope.cancel()
    assert not is_alive(pid)
    assert (worker.summary().process, worker.summary().model) == ("down", "unloaded")


@pytest.mark.contract("2.stop.eviction-asks")
async def test_an_end_is_asked_for_before_it_is_signalled(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    async with open_worker(tone("ignore-sigterm"), grace_seconds=1000) as worker:
        session = await worker.ensure_loaded("plain")
        await worker.end()
        assert not is_alive(session.pid)


@pytest.mark.contract("2.stop.eviction-asks")
async def test_an_end_that_cannot_be_asked_for_is_signalled(
    open_worker: OpenWorker, unruly: EngineEntry, is_alive: IsAlive
) -> None:
    async with open_worker(unruly, engine="unruly", grace_seconds=1000) as worker:
        session = await worker.ensure_loaded("only")
        await session.ask("POST", "/speak", b'{"text":"babble"}')
        await worker.end()
        assert not is_alive(session.pid)
