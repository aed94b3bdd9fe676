"""One engine's worker, with real processes of the tone engine."""

import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.link import End
from rhapsode.workers.session import Session
from rhapsode.workers.worker import Worker
from rhapsode_contract import Internal, ModelUnavailable, OutOfMemory
from rhapsode_http import request_id

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
Tone = Callable[..., EngineEntry]
IsAlive = Callable[[int], bool]


def python(code: str) -> EngineEntry:
    """A worker that is a line of Python."""
    return EngineEntry(command=(sys.executable, "-c", code))


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what nobody is told of."""
    while not is_so():  # noqa: ASYNC110 (a turn of the loop would starve the process)
        await anyio.sleep(0.01)


async def test_a_process_is_started_once_for_everybody_who_waits(
    open_worker: OpenWorker, tone: Tone
) -> None:
    pids: list[int] = []

    async def ask(worker: Worker) -> None:
        pids.append((await worker.ensure_up()).pid)

    async with open_worker(tone()) as worker:
        assert worker.summary().process == "down"
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask, worker)
        assert len(set(pids)) == 1
        assert worker.summary().process == "up"
        assert worker.summary().model == "unloaded"


async def test_giving_up_the_wait_for_a_start_disturbs_nobody_else(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone()) as worker:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(worker.ensure_up)
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        assert (await worker.ensure_up()).capabilities.engine.id == "tone"


async def test_the_end_of_the_block_is_the_end_of_the_process(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    async with open_worker(tone()) as worker:
        pid = (await worker.ensure_up()).pid
        assert is_alive(pid)
    assert not is_alive(pid)
    assert worker.summary().restarts == 0
    assert worker.summary().last_error is None


@pytest.mark.contract("2.stop.shutdown-signals", "2.stop.kill-after-grace")
async def test_one_that_ignores_sigterm_is_killed(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    async with open_worker(tone("ignore-sigterm"), grace_seconds=0.2) as worker:
        pid = (await worker.ensure_up()).pid
    assert not is_alive(pid)


async def test_an_end_that_was_asked_for_is_no_crash(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    async with open_worker(tone()) as worker:
        session = await worker.ensure_loaded("plain")
        await worker.end()
        assert not is_alive(session.pid)
        summary = worker.summary()
        assert (summary.process, summary.model, summary.restarts) == ("down", "unloaded", 0)
        assert summary.variant is None
        assert summary.last_error is None
        assert (await worker.ensure_up()).pid != session.pid


async def test_an_end_while_nothing_runs_is_nothing(open_worker: OpenWorker, tone: Tone) -> None:
    async with open_worker(tone()) as worker:
        await worker.end()
        assert worker.summary().process == "down"


async def test_an_end_during_a_start_ends_it_and_whoever_waits_gets_another(
    open_worker: OpenWorker, tone: Tone, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with open_worker(tone("slow-start=0.3"), grace_seconds=0.2) as worker:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.ensure_up)
            await anyio.wait_all_tasks_blocked()
            await worker.end()
        assert worker.summary().process == "up"
        assert worker.summary().restarts == 0
    starts = [one for one in caplog.messages if one == "process: start, down -> starting"]
    assert len(starts) == 2


async def test_an_end_during_a_start_that_nobody_waits_for_is_the_end(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone("mute-start"), grace_seconds=0.2) as worker:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(worker.ensure_up)
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        await worker.end()
        assert worker.summary().process == "down"


async def test_a_demand_during_an_end_gets_a_new_process(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone()) as worker:
        first = await worker.ensure_up()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.end)
            await anyio.wait_all_tasks_blocked()
            assert (await worker.ensure_up()).pid != first.pid


async def test_a_crash_is_noticed_counted_and_explained_and_the_next_demand_starts_anew(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone()) as worker:
        first = await worker.ensure_loaded("plain")
        os.kill(first.pid, signal.SIGKILL)
        await first.ended.wait()
        summary = worker.summary()
        assert (summary.process, summary.model, summary.restarts) == ("down", "unloaded", 1)
        assert "SIGKILL" in (summary.last_error or "")
        second = await worker.ensure_up()
        assert second.pid != first.pid
        assert worker.summary().license is not None


async def test_a_request_to_a_process_that_was_killed_hears_why(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone("hang-in-speak")) as worker:
        session = await worker.ensure_loaded("plain")
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(ModelUnavailable, match="SIGKILL") as heard:
                    await session.ask("POST", "/speak", b'{"text":"Hello"}')
                # What the worker logged of other requests is no caller's business.
                assert "speaking" not in heard.value.message
                assert "last words" not in heard.value.message

            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            os.kill(session.pid, signal.SIGKILL)


@pytest.mark.contract(
    "d.handshake.exited",
    "2.start.exit-is-failure",
    "2.start.stderr-is-message",
    "2.handshake.no-polling",
)
async def test_one_that_exits_at_its_start_is_internal_with_its_last_words(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone("exit-at-start=9"), startup_seconds=1000) as worker:
        with pytest.raises(Internal, match=r"status 9(.|\n)*leaving at the start"):
            await worker.ensure_up()
        assert worker.summary().process == "down"
        assert "leaving" in (worker.summary().last_error or "")


@pytest.mark.contract("d.handshake.killed")
async def test_one_that_is_killed_at_its_start_may_be_tried_again(open_worker: OpenWorker) -> None:
    entry = python("import os; os.kill(os.getpid(), 9)")
    async with open_worker(entry) as worker:
        with pytest.raises(ModelUnavailable, match="SIGKILL"):
            await worker.ensure_up()


@pytest.mark.contract("d.deadlines.start")
async def test_one_that_says_nothing_is_unavailable_naming_the_start(
    open_worker: OpenWorker, tone: Tone
) -> None:
    entry = tone("mute-start")
    async with open_worker(entry, startup_seconds=0.3, grace_seconds=0.2) as worker:
        with pytest.raises(ModelUnavailable, match=r"start: .*0\.3 s"):
            await worker.ensure_up()
        await worker.end()
        assert worker.summary().process == "down"


@pytest.mark.contract("9.refuse.too-high")
async def test_one_that_speaks_a_contract_above_ours_is_refused(open_worker: OpenWorker) -> None:
    line = (
        '{"ready":true,"contract":9,"engine":"tone","listen":"'
        "'+os.environ['RHAPSODE_WORKER_LISTEN']+'\"}"
    )
    async with open_worker(
        python(f"import os,time;print('{line}',flush=True);time.sleep(60)"), grace_seconds=0.2
    ) as worker:
        with pytest.raises(Internal, match="contract 9.*1"):
            await worker.ensure_up()


async def test_a_program_that_is_not_there_is_internal_and_named(open_worker: OpenWorker) -> None:
    async with open_worker(EngineEntry(venv=Path("/nowhere"))) as worker:
        with pytest.raises(Internal, match="/nowhere/bin/python") as refused:
            await worker.ensure_up()
        assert "Errno" not in refused.value.message
        assert worker.summary().process == "down"


@pytest.mark.contract("d.handshake.noise")
async def test_noise_before_the_handshake_is_logged_and_does_no_harm(
    open_worker: OpenWorker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    code = (
        "print('loading weights', flush=True)\n"
        "from rhapsode_engine_tone.engine import ToneEngine\n"
        "from rhapsode_worker import serve\n"
        "serve(ToneEngine())"
    )
    async with open_worker(python(code)) as worker:
        await worker.ensure_up()
    assert any("loading weights" in record.getMessage() for record in caplog.records)


async def test_what_a_process_does_is_not_logged_as_part_of_the_request_that_started_it(
    open_worker: OpenWorker, tone: Tone
) -> None:
    logged: dict[str, str | None] = {}

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged[record.getMessage()] = request_id.get()

    listener = Listener()
    ours = logging.getLogger("rhapsode")
    ours.addHandler(listener)
    ours.setLevel(logging.INFO)
    token = request_id.set("some-request")
    try:
        async with open_worker(tone("print")) as worker:
            await worker.ensure_up()
    finally:
        request_id.reset(token)
        ours.removeHandler(listener)
        ours.setLevel(logging.NOTSET)
    assert logged["process: start, down -> starting"] == "some-request"
    assert logged["ready"] is None
    assert logged["on standard output: tone: printed at the start"] is None


async def test_a_start_that_is_told_to_end_is_made_once_more_and_not_for_ever(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone("slow-start=1000")) as worker:
        refused = anyio.Event()

        async def wait_for_it() -> None:
            with pytest.raises(ModelUnavailable, match="told to end"):
                await worker.ensure_up()
            refused.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_for_it)
            for _ in range(2):
                await until(lambda: worker.summary().process == "starting")
                await worker.end()
            await refused.wait()
        assert worker.summary().process == "down"


class BrokenLink:
    """A way to a worker with a fault that nobody has thought of."""

    async def live(self, ready: Callable[[Session], None], ending: anyio.Event) -> End:
        raise ZeroDivisionError("a secret")

    def kill(self) -> None:
        raise AssertionError("never asked for")


async def test_a_fault_that_nobody_has_thought_of_is_one_engines_own(
    open_worker: OpenWorker, tone: Tone, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_worker(tone()) as worker:
        with monkeypatch.context() as patch:
            patch.setattr(worker, "_link", BrokenLink())
            with pytest.raises(Internal, match="ZeroDivisionError") as broken:
                await worker.ensure_up()
            assert "secret" not in broken.value.message
        await worker.ensure_up()  # the task group is still there


async def test_a_model_is_loaded_once_for_everybody_who_waits(
    open_worker: OpenWorker, tone: Tone, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with open_worker(tone("slow-load=0.2")) as worker:
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(worker.ensure_loaded, "plain")
        session = await worker.ensure_loaded("plain")
        assert worker.summary().model == "loaded"
        assert worker.resident_variant == "plain"
        assert session.capabilities.current is not None
    loads = [record for record in caplog.records if record.getMessage() == "loaded plain"]
    assert len(loads) == 1


@pytest.mark.contract("d.variant.switch")
async def test_a_switch_of_variants_keeps_the_process(open_worker: OpenWorker, tone: Tone) -> None:
    async with open_worker(tone()) as worker:
        first = await worker.ensure_loaded("plain")
        second = await worker.ensure_loaded("dialled")
        assert second.pid == first.pid
        assert worker.resident_variant == "dialled"
        current = second.capabilities.current
        assert current is not None and current.variant == "dialled"


async def test_a_load_whose_cause_has_left_goes_on_and_is_waited_for(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone("slow-load=0.3")) as worker:
        await worker.ensure_up()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.ensure_loaded, "plain")
            await anyio.wait_all_tasks_blocked()
            assert worker.summary().model == "loading"
            tasks.cancel_scope.cancel()
        await worker.ensure_loaded("dialled")
        assert worker.resident_variant == "dialled"


@pytest.mark.parametrize(
    ("flag", "error"),
    [
        ("fail-load", Internal),
        ("oom-in-load", OutOfMemory),
        ("missing-weights", ModelUnavailable),
    ],
)
async def test_a_load_that_fails_says_so_and_the_process_stays(
    open_worker: OpenWorker, tone: Tone, flag: str, error: type[Exception]
) -> None:
    async with open_worker(tone(flag)) as worker:
        session = await worker.ensure_up()
        with pytest.raises(error):
            await worker.ensure_loaded("plain")
        assert worker.summary().model == "unloaded"
        assert await worker.ensure_up() is session


@pytest.mark.contract("d.deadlines.load")
async def test_a_load_that_hangs_is_named_and_costs_the_process_its_life(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    entry = tone("hang-in-load")
    async with open_worker(entry, load_seconds=0.3, grace_seconds=0.3) as worker:
        session = await worker.ensure_up()
        with pytest.raises(ModelUnavailable, match=r"load: .*0\.3 s"):
            await worker.ensure_loaded("plain")
        await session.ended.wait()
        assert not is_alive(session.pid)
        assert worker.summary().restarts == 0


async def test_a_process_that_dies_in_a_load_fails_the_load_with_its_end(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone("hang-in-load")) as worker:
        session = await worker.ensure_up()

        async def load() -> None:
            with pytest.raises(ModelUnavailable, match="SIGSEGV"):
                await worker.ensure_loaded("plain")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(load)
            await anyio.wait_all_tasks_blocked()
            os.kill(session.pid, signal.SIGSEGV)
        assert worker.summary().model == "unloaded"
