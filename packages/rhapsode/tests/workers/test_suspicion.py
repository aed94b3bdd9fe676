"""A worker that lives and does not answer: found out, ended, replaced; with real processes."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import httpx
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.speech.deadlines import Deadlines
from rhapsode.workers.patience import Patience
from rhapsode.workers.session import Session
from rhapsode.workers.worker import Worker
from rhapsode_contract import Internal, ModelUnavailable
from rhapsode_http import Client

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
Serve = Callable[..., AbstractAsyncContextManager[Any]]
Tone = Callable[..., EngineEntry]
IsAlive = Callable[[int], bool]

QUICKLY = {"grace_seconds": 0.3, "patience": Patience(probe_seconds=0.3)}


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what nobody is told of."""
    while not is_so():  # noqa: ASYNC110 (a turn of the loop would starve the process)
        await anyio.sleep(0.01)


def words(text: str) -> bytes:
    return f'{{"text":"{text}"}}'.encode()


async def assert_is_replaced(worker: Worker, session: Session, is_alive: IsAlive) -> None:
    """Waits for the end of a process, and sees that another one takes its place on demand."""
    await session.ended.wait()
    assert not is_alive(session.pid)
    assert worker.summary().restarts == 0  # the core ended it
    assert worker.summary().last_error
    assert (await worker.ensure_up()).pid != session.pid


async def test_one_that_hangs_is_found_out_by_a_request_that_failed(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    async with open_worker(tone(), **QUICKLY) as worker:
        session = await worker.ensure_loaded("plain")
        os.killpg(session.pid, signal.SIGSTOP)
        with pytest.raises(ModelUnavailable, match="/voices: not there within"):
            await session.ask("GET", "/voices", seconds=0.1)
        await assert_is_replaced(worker, session, is_alive)
        assert "did not answer" in (worker.summary().last_error or "")


async def test_one_that_takes_its_time_and_lives_is_left_alone_and_looked_at_again(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    patience = Patience(probe_seconds=20)
    async with open_worker(unruly, engine="unruly", patience=patience) as worker:
        session = await worker.ensure_loaded("only")
        make, looks = session.stranger, 0

        def counted() -> Client:
            nonlocal looks
            looks += 1
            return make()

        session.stranger = counted
        while looks < 3:
            with pytest.raises(ModelUnavailable):
                await session.ask("POST", "/speak", words("hang"), seconds=0.05)
        assert await worker.ensure_up() is session
        assert worker.summary().last_error is None


async def test_one_that_lets_nobody_in_is_found_out(
    open_worker: OpenWorker, unruly: EngineEntry, is_alive: IsAlive
) -> None:
    async with open_worker(unruly, engine="unruly", **QUICKLY) as worker:
        session = await worker.ensure_loaded("only")
        await session.ask("POST", "/speak", words("deaf"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_hear_of_the_end, session)  # on the one connection there is
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(ModelUnavailable, match="lets nobody in"):
                await session.ask("GET", "/voices")
            await assert_is_replaced(worker, session, is_alive)


async def _hear_of_the_end(session: Session) -> None:
    with pytest.raises(ModelUnavailable):
        await session.ask("POST", "/speak", words("hang"))


async def test_a_connection_that_was_kept_is_no_sign_of_life(
    open_worker: OpenWorker, unruly: EngineEntry, is_alive: IsAlive
) -> None:
    async with open_worker(unruly, engine="unruly", **QUICKLY) as worker:
        session = await worker.ensure_loaded("only")
        await session.ask("POST", "/speak", words("deaf"))
        session.suspect()
        await assert_is_replaced(worker, session, is_alive)


async def test_one_that_answers_garbage_is_found_out(
    open_worker: OpenWorker, unruly: EngineEntry, is_alive: IsAlive
) -> None:
    async with open_worker(unruly, engine="unruly", **QUICKLY) as worker:
        session = await worker.ensure_loaded("only")
        await session.ask("POST", "/speak", words("babble"))
        with pytest.raises(Internal, match="did not finish"):
            await session.ask("GET", "/voices")
        await assert_is_replaced(worker, session, is_alive)


async def test_whoever_comes_while_it_is_looked_at_waits_for_the_verdict(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(unruly, engine="unruly", **QUICKLY) as worker:
        session = await worker.ensure_loaded("only")
        await session.ask("POST", "/speak", words("babble"))
        session.suspect()
        assert (await worker.ensure_up()).pid != session.pid


async def test_an_unload_that_hangs_costs_the_process_its_life_after_the_grace(
    open_worker: OpenWorker, tone: Tone, is_alive: IsAlive
) -> None:
    async with open_worker(tone("hang-in-unload"), load_seconds=1000, **QUICKLY) as worker:
        session = await worker.ensure_loaded("plain")
        await worker.unload()
        assert (worker.summary().process, worker.summary().model) == ("down", "unloaded")
        assert "unload: " in (worker.summary().last_error or "")
        await assert_is_replaced(worker, session, is_alive)


async def test_a_process_that_dies_in_an_unload_takes_nothing_with_it_but_the_model(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(unruly, engine="unruly") as worker:
        session = await worker.ensure_loaded("only")
        await session.ask("POST", "/speak", words("die-in-unload"))
        await worker.unload()
        # Its own restart is under way, or over: the unload neither waits for it nor ends it.
        assert session.ended.is_set()
        await until(lambda: worker.summary().process == "up")
        assert (worker.summary().model, worker.summary().restarts) == ("unloaded", 1)
        await worker.ensure_loaded("only")


@pytest.mark.parametrize("stream", [False, True])
async def test_one_that_is_stopped_while_it_speaks_costs_that_request_and_no_other(
    serve: Serve, tone: Tone, is_alive: IsAlive, stream: bool
) -> None:
    deadlines = Deadlines(first_audio_seconds=1, stall_seconds=1, segment_seconds=1)
    patience = Patience(probe_seconds=0.3)
    entries = {"tone": tone("pace=2")}
    async with serve(entries, deadlines=deadlines, patience=patience, drain_grace_ms=300) as core:
        session = await core.core.fleet.worker("tone").ensure_loaded("plain")
        asked = {"engine": "tone", "text": "word " * 40, "stream": stream}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_fail, core.http, asked)
            await until(lambda: len(session.turns) == 1)
            os.killpg(session.pid, signal.SIGSTOP)
            await session.ended.wait()
        assert not is_alive(session.pid)
        answer = await core.speak(engine="tone", text="Hi.")
        assert answer.content.startswith(b"RIFF")
        models = (await core.http.get("/residency")).json()["models"]
        assert [model["leases"] for model in models] == [0]


@pytest.mark.parametrize("what", ["voices", "capabilities", "voices/a4/preview"])
async def test_a_question_that_needs_no_model_waits_no_longer_for_one_that_hangs_than_its_health(
    serve: Serve, tone: Tone, is_alive: IsAlive, what: str
) -> None:
    patience = Patience(answer_seconds=0.3, probe_seconds=0.3)
    async with serve({"tone": tone()}, patience=patience, drain_grace_ms=300) as core:
        session = await core.core.fleet.worker("tone").ensure_up()
        os.killpg(session.pid, signal.SIGSTOP)
        with anyio.fail_after(20):
            answer = await core.http.get(f"/engines/tone/{what}")
            assert answer.status_code == 503
            error = answer.json()["error"]
            assert (error["code"], error["retryable"]) == ("model_unavailable", True)
            assert f"GET /{what}: " in error["message"]
            await session.ended.wait()
        assert not is_alive(session.pid)
        assert (await core.http.get("/engines/tone/voices")).status_code == 200


async def test_an_upload_to_one_that_hangs_ends_though_it_takes_nothing_any_more(
    serve: Serve, tone: Tone
) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="reference"; filename="a.wav"\r\n\r\n'

    async def form() -> AsyncIterator[bytes]:
        os.killpg(session.pid, signal.SIGSTOP)
        yield head
        for _ in range(20):  # more than every buffer on its way
            yield bytes(1 << 20)

    patience = Patience(create_seconds=0.5, probe_seconds=0.3)
    async with serve({"tone": tone()}, patience=patience, drain_grace_ms=300) as core:
        session = await core.core.fleet.worker("tone").ensure_up()
        kind = {"content-type": "multipart/form-data; boundary=b"}
        with anyio.fail_after(20):
            answer = await core.http.post("/engines/tone/voices", content=form(), headers=kind)
        assert answer.status_code == 503
        assert "a new voice: " in answer.json()["error"]["message"]


async def _fail(http: httpx.AsyncClient, asked: dict[str, Any]) -> None:
    """A body that breaks off, or an envelope where none had begun."""
    try:
        answer = await http.post("/speak", json=asked)
    except httpx.RemoteProtocolError:
        return
    assert answer.status_code == 503
