"""An engine that says nothing while its process is well: told from one that is kept from it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import anyio
import httpx
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.speech.account import Account
from rhapsode.speech.deadlines import Deadlines
from rhapsode.speech.dispatch import Dispatch, dispatch
from rhapsode.speech.relay import relay_stream, take_whole
from rhapsode.workers.clock import Clock
from rhapsode.workers.patience import Patience
from rhapsode.workers.session import Session
from rhapsode.workers.worker import Worker
from rhapsode_contract import PublicSpeakRequest, RhapsodeError
from rhapsode_http import StreamAborted
from starlette.types import Message, Send

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
OpenRemote = Callable[..., AbstractAsyncContextManager[Any]]
Serve = Callable[..., AbstractAsyncContextManager[Any]]
Tone = Callable[..., EngineEntry]
IsAlive = Callable[[int], bool]

FIRST_AUDIO, WHOLE, STALL = "first audio", "audio", "stall"
HASTE = Deadlines(first_audio_seconds=0.3, stall_seconds=0.3, segment_seconds=0.3)


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what nobody is told of."""
    while not is_so():  # noqa: ASYNC110 (a turn of the loop would starve the process)
        await anyio.sleep(0.01)


async def fail(http: httpx.AsyncClient, **asked: object) -> None:
    """Asks for what does not come: a body that breaks off, or an envelope where none had begun."""
    with suppress(httpx.RemoteProtocolError):
        answer = await http.post("/speak", json=asked)
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "model_unavailable"


async def relay(session: Session, text: str, send: Send) -> None:
    """Streams an utterance, which may pause for half a second."""
    await relay_stream(session, _asked(session, text, True), Clock(), 0.5, Account(), send)


async def take_it_whole(session: Session, text: str, send: Send) -> None:
    """The same for one that is not streamed, without a deadline."""
    audio = await take_whole(session, _asked(session, text, False), Clock(), 1 << 30, Account())
    await audio.send(send)


def _asked(session: Session, text: str, stream: bool) -> Dispatch:
    body = PublicSpeakRequest(engine="unruly", text=text, stream=stream)
    return dispatch(body, session.capabilities, None)


@pytest.mark.parametrize(
    ("text", "stream", "stage"),
    [("hang", True, FIRST_AUDIO), ("hang", False, WHOLE), ("stall", True, STALL)],
    ids=["first audio", "buffered", "stall"],
)
async def test_an_engine_that_nobody_hears_hangs_though_its_process_says_that_it_is_well(
    serve: Serve, unruly: EngineEntry, is_alive: IsAlive, text: str, stream: bool, stage: str
) -> None:
    async with serve({"unruly": unruly}, deadlines=HASTE) as core:
        worker = core.core.fleet.worker("unruly")
        session = await worker.ensure_loaded("only")
        await fail(core.http, engine="unruly", text=text, stream=stream)
        await session.ended.wait()
        assert not is_alive(session.pid)
        answer = await core.speak(engine="unruly", text="whole")
        assert answer.status_code == 200
        summary = worker.summary()
        assert summary.restarts == 0  # the core ended it
        assert (summary.last_error or "").startswith(f"{stage}: ")
        assert "0.3 s" in (summary.last_error or "")


async def test_an_engine_that_hangs_in_the_midst_of_its_audio_is_replaced_after_the_stall(
    serve: Serve, tone: Tone, is_alive: IsAlive
) -> None:
    deadlines = Deadlines(stall_seconds=0.5)
    entries = {"tone": tone("hang-mid-stream=0.1")}
    async with serve(entries, deadlines=deadlines, drain_grace_ms=300) as core:
        worker = core.core.fleet.worker("tone")
        session = await worker.ensure_loaded("plain")
        await fail(core.http, engine="tone", text="word " * 40, stream=True)
        await session.ended.wait()
        assert not is_alive(session.pid)
        assert (worker.summary().last_error or "").startswith("stall: ")


@pytest.mark.parametrize("stream", [True, False])
async def test_an_engine_that_somebody_hears_costs_that_request_and_no_process(
    serve: Serve, unruly: EngineEntry, stream: bool
) -> None:
    deadlines = Deadlines(first_audio_seconds=1.5, segment_seconds=1.5)
    async with serve({"unruly": unruly}, deadlines=deadlines) as core:
        worker = core.core.fleet.worker("unruly")
        session = await worker.ensure_loaded("only")
        asked = {"engine": "unruly", "text": "drip", "stream": True}

        async def drip() -> None:
            async with core.http.stream("POST", "/speak", json=asked) as speaking:
                async for _ in speaking.aiter_raw():
                    pass

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: fail(core.http, engine="unruly", text="hang", stream=stream))
            await until(lambda: len(session.turns) == 1)  # so that its time runs
            dripping = anyio.CancelScope()
            tasks.start_soon(_within, dripping, drip)
            await until(lambda: len(session.turns) == 2)
            await until(lambda: len(session.turns) == 1)
            assert await worker.ensure_up() is session
            await _hear_more(session)
            dripping.cancel()
        assert worker.summary().last_error is None


@pytest.mark.parametrize("listen", [relay, take_it_whole])
async def test_a_stream_that_stalls_beside_an_answer_that_does_not_costs_no_process(
    open_worker: OpenWorker, unruly: EngineEntry, listen: Callable[..., Any]
) -> None:
    async with open_worker(unruly, engine="unruly") as worker:
        session = await worker.ensure_loaded("only")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen, session, "drip", _take)
            await _hear_more(session)
            with pytest.raises(StreamAborted, match="stall: "):
                await relay(session, "stall", _take)
            assert await worker.ensure_up() is session
            await _hear_more(session)
            tasks.cancel_scope.cancel()


async def test_an_engine_whose_listener_takes_nothing_is_not_said_to_hang(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    is_full = anyio.Event()

    async def take_no_body(message: Message) -> None:
        if message["type"] == "http.response.body":
            is_full.set()
            await anyio.sleep_forever()

    async with open_worker(unruly, engine="unruly") as worker:
        session = await worker.ensure_loaded("only")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(relay, session, "flood", take_no_body)
            await is_full.wait()
            with pytest.raises(StreamAborted, match="stall: "):
                await relay(session, "stall", _take)
            assert await worker.ensure_up() is session
            tasks.cancel_scope.cancel()


async def test_whoever_was_held_up_by_a_listener_who_has_left_is_not_silenced_by_the_engine(
    open_worker: OpenWorker, unruly: EngineEntry
) -> None:
    async with open_worker(unruly, engine="unruly") as worker:
        session = await worker.ensure_up()
        faults: list[RhapsodeError] = []
        session.condemn = faults.append
        heard, listener = session.pieces_heard, Clock()
        with session.listener(listener):
            listener.stop()  # it has a piece and takes it not
            session.note_silence(STALL, 1, heard)
        session.note_silence(STALL, 1, heard)
        assert faults == []
        session.note_silence(STALL, 1, session.pieces_heard)
        assert [str(fault).partition(":")[0] for fault in faults] == [STALL]


async def test_an_engine_that_hangs_elsewhere_is_told_to_end(
    serve: Serve, open_remote: OpenRemote
) -> None:
    patience = Patience(pauses_seconds=(0.0, 0.1), watch_seconds=0.2, return_seconds=0.02)
    async with open_remote("hang-in-speak") as remote:
        entries = {"tone": EngineEntry(url=f"http://127.0.0.1:{remote.port}")}
        options = {"deadlines": HASTE, "patience": patience, "drain_grace_ms": 300}
        async with serve(entries, **options) as core:
            worker = core.core.fleet.worker("tone")
            session = await worker.ensure_loaded("plain")
            await fail(core.http, engine="tone", text="Hello.", stream=True)
            await session.ended.wait()
            assert (session.exit and session.exit.message or "").startswith(f"{FIRST_AUDIO}: ")
            await until(lambda: remote.exits == [0])
            await until(lambda: worker.summary().process == "up")
            assert worker.summary().restarts == 0


async def _within(scope: anyio.CancelScope, task: Callable[[], Any]) -> None:
    with scope:
        await task()


async def _hear_more(session: Session) -> None:
    heard = session.pieces_heard
    await until(lambda: session.pieces_heard > heard)


async def _take(message: Message) -> None:
    """An ASGI `send` to which nothing is too much."""
