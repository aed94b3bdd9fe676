"""A core that is short of descriptors: no fault of any worker's, and over as soon as it is."""

import errno
import logging
import os
import resource
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.patience import Patience
from rhapsode.workers.process import Hearers, Launch, open_process
from rhapsode.workers.session import health_of
from rhapsode.workers.shortage import Shortage, file_shortage, process_shortage
from rhapsode.workers.worker import Worker
from rhapsode_contract import Health, ModelUnavailable

pytestmark = pytest.mark.anyio

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
OpenRemote = Callable[..., AbstractAsyncContextManager[Any]]
Tone = Callable[..., EngineEntry]

AT_ONCE = Patience(pauses_seconds=(0.0, 0.01))


@contextmanager
def no_descriptors(left: int = 0) -> Generator[None]:
    """Lets this process open nothing for the length of the block, or so many things."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as held:

        def opened() -> int:
            descriptor = os.open(os.devnull, os.O_RDONLY)
            held.callback(os.close, descriptor)
            return descriptor

        spare = sorted(os.open(os.devnull, os.O_RDONLY) for _ in range(left))
        # The gaps below them would be more that can be had.
        while left and opened() < spare[-1]:
            pass
        resource.setrlimit(resource.RLIMIT_NOFILE, (spare[-1] + 1 if left else 0, hard))
        for descriptor in spare:
            os.close(descriptor)
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def open_descriptors() -> int:
    return len(os.listdir("/dev/fd"))


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what nobody is told of."""
    while not is_so():  # noqa: ASYNC110 (a turn of the loop would starve the process)
        await anyio.sleep(0.01)


async def test_a_look_that_cannot_be_taken_condemns_nobody(
    open_worker: OpenWorker, tone: Tone, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with open_worker(tone()) as worker:
        session = await worker.ensure_up()
        with no_descriptors():
            session.suspect()
            assert await worker.ensure_up() is session
        assert worker.summary().last_error is None
    (line,) = [one for one in caplog.records if one.name == "rhapsode.workers.suspicion"]
    assert "Too many open files" in line.getMessage()


async def test_a_request_that_finds_no_descriptor_says_so_and_casts_no_suspicion(
    open_worker: OpenWorker, tone: Tone
) -> None:
    suspected: list[None] = []
    async with open_worker(tone()) as worker:
        session = await worker.ensure_up()
        session.suspect = lambda: suspected.append(None)
        async with session.stranger() as client:
            asked = replace(session, client=client)
            with no_descriptors(), pytest.raises(ModelUnavailable, match="Too many open files"):
                await asked.ask("GET", "/voices")
    assert suspected == []


async def test_a_worker_elsewhere_is_not_lost_for_want_of_a_descriptor(
    open_worker: OpenWorker, open_remote: OpenRemote
) -> None:
    looks = 0

    def counted() -> Callable[[Health], None]:
        nonlocal looks
        looks += 1
        return lambda health: None

    patience = Patience(watch_seconds=0.02)
    async with open_remote() as remote:
        entry = EngineEntry(url=f"http://127.0.0.1:{remote.port}")
        async with open_worker(entry, patience=patience) as worker:
            session = await worker.ensure_up()
            session.look = counted
            async with session.stranger() as client:
                kept, session.client = session.client, client
                with no_descriptors():
                    seen = looks
                    await until(lambda: looks >= seen + 4)
                session.client = kept
            assert await worker.ensure_up() is session


async def test_a_start_that_lacks_descriptors_says_so_and_is_made_once_there_are(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone(), max_restarts=1, patience=AT_ONCE) as worker:
        with no_descriptors():
            for _ in range(4):
                with pytest.raises(ModelUnavailable, match="cannot be started: Too many open fil"):
                    await worker.ensure_up()
            assert worker.summary().process == "down"
        await until(lambda: worker.summary().process == "up")  # which nobody has asked for
        assert (worker.summary().restarts, worker.crashes) == (0, 0)


async def test_a_process_that_finds_no_descriptor_to_be_asked_over_is_started_again(
    open_worker: OpenWorker, tone: Tone, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_worker(tone(), max_restarts=0, patience=AT_ONCE) as worker:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_be_refused, worker)
            await until(lambda: worker.summary().process == "starting")
            with no_descriptors():
                await until(lambda: worker.summary().last_error is not None)
        assert "cannot connect to the engine: Too many open files" in caplog.text
        await until(lambda: worker.summary().process == "up")


async def _be_refused(worker: Worker) -> None:
    with pytest.raises(ModelUnavailable):
        await worker.ensure_up()


@pytest.mark.parametrize("left", range(10))
async def test_a_spawn_with_too_few_descriptors_names_the_error_and_leaves_none_open(
    left: int,
) -> None:
    launch = Launch((sys.executable, "-c", ""), {}, None, 0.3)
    hearers = Hearers(lambda line: None, lambda line: None, lambda status: None)
    async with open_process(launch, hearers):
        pass  # what the first process takes for good
    before = open_descriptors()
    with no_descriptors(left), pytest.raises(OSError, match="Too many open files") as failure:
        async with open_process(launch, hearers):
            pass
    assert failure.value.errno == errno.EMFILE
    assert open_descriptors() == before


def test_a_limit_on_processes_is_a_shortage_and_a_missing_file_is_none() -> None:
    assert isinstance(process_shortage(OSError(errno.EAGAIN, "")), Shortage)
    assert process_shortage(FileNotFoundError(errno.ENOENT, "")) is None
    assert isinstance(file_shortage("caFile: a", OSError(errno.ENFILE, "")), Shortage)
    assert file_shortage("caFile: a", OSError(errno.EAGAIN, "")) is None


async def test_what_was_not_asked_has_not_answered_badly(
    open_worker: OpenWorker, tone: Tone
) -> None:
    async with open_worker(tone()) as worker:
        session = await worker.ensure_up()
        async with session.stranger() as client:
            with no_descriptors(), pytest.raises(Shortage):
                await health_of(client, 1)
            assert await health_of(client, 20) is not None
