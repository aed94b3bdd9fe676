"""The ends of a worker: asked to, told twice, and left alone by its core."""

import json
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from rhapsode_http import Client, UpstreamError, UpstreamResponse

from .worker import ADAPTERS, Worker, ask, begin, running

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

LONG = {"text": "A text of thirty characters ok", "format": "pcm", "stream": True}
LONG_BYTES = 30 * 60 * 48


async def ask_to_drain(worker: Worker, client: Client, how: str) -> None:
    """Asks a worker to leave, and returns once it says that it does."""
    if how == "signal":
        worker.signal()
    else:
        assert (await ask(client, "POST", "/terminate"))[0] == 202
    process = ""
    while process != "draining":
        process = json.loads((await ask(client, "GET", "/health"))[1])["process"]


async def rest_of(response: UpstreamResponse) -> bytes:
    return await response.read_all(limit_bytes=1 << 30)


@pytest.mark.parametrize("how", ["signal", "terminate"])
@pytest.mark.contract(
    "2.stop.finishes", "2.stop.refuses", "2.stop.terminate", "2.stop.exits-zero", "d.drain.reads"
)
async def test_a_drain_finishes_what_is_spoken_and_takes_no_more(how: str) -> None:
    async with running(environ={"RHAPSODE_TONE_MISBEHAVE": "pace=4"}) as worker:
        async with worker.client as client, await begin(client, "POST", "/speak", LONG) as speech:
            await ask_to_drain(worker, client, how)
            status, refusal = await ask(client, "POST", "/speak", LONG)
            error: dict[str, Any] = json.loads(refusal)["error"]
            assert (status, error["code"], error["retryable"]) == (429, "overloaded", True)
            assert len(await rest_of(speech)) == LONG_BYTES
            assert (b"x-rhapsode-duration-ms", b"1800") in speech.trailers
        assert await worker.ended() == 0
        assert worker.left_behind() == []


async def test_a_signal_after_terminate_cuts_nothing() -> None:
    async with running(environ={"RHAPSODE_TONE_MISBEHAVE": "pace=4"}) as worker:
        async with worker.client as client, await begin(client, "POST", "/speak", LONG) as speech:
            await ask_to_drain(worker, client, "terminate")
            worker.signal()
            assert len(await rest_of(speech)) == LONG_BYTES
        assert await worker.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_ends_at_once_whatever_hangs(number: signal.Signals) -> None:
    async with running(environ={"RHAPSODE_TONE_MISBEHAVE": "hang-mid-stream=0.2"}) as worker:
        async with worker.client as client, await begin(client, "POST", "/speak", LONG) as speech:
            await ask_to_drain(worker, client, "signal")
            worker.signal(number)
            assert await worker.ended() == 1  # for who wants to know that an answer was cut
            with pytest.raises(UpstreamError):
                await rest_of(speech)
        assert worker.left_behind() == []
        assert worker.log  # JSON to the last line


async def test_voices_that_hang_do_not_keep_a_worker() -> None:
    async def list_voices(client: Client) -> None:
        assert (await ask(client, "GET", "/voices"))[0] == 429

    async with (
        running(str(ADAPTERS / "stuck.py"), engine="stuck") as worker,
        worker.client as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(list_voices, client)
        await worker.says("listing")
        await ask_to_drain(worker, client, "signal")
        worker.signal()
        await worker.ended()


@pytest.mark.contract("2.stop.exits-zero")
async def test_voices_that_hang_and_that_nobody_waits_for_do_not_hold_up_a_drain() -> None:
    async with (
        running(str(ADAPTERS / "stuck.py"), engine="stuck") as worker,
        worker.client as client,
    ):
        async with anyio.create_task_group() as group:
            group.start_soon(ask, client, "GET", "/voices")
            await worker.says("listing")
            group.cancel_scope.cancel()
        worker.signal()
        assert await worker.ended() == 0


def close_stdin(worker: Worker) -> Callable[[], Any]:
    assert worker.process.stdin is not None
    return worker.process.stdin.aclose


@pytest.mark.contract("d.life.ends-with-server")
async def test_the_end_of_its_lifeline_ends_a_worker_and_all_that_it_started() -> None:
    async with running(
        str(ADAPTERS / "stuck.py"),
        engine="stuck",
        stdin=subprocess.PIPE,
        environ={"RHAPSODE_WORKER_LIFELINE": "stdin", "PATH": "/usr/bin:/bin"},
    ) as worker:
        async with worker.client as client:
            assert (await ask(client, "POST", "/load"))[0] == 200
        assert any("sleep 1000" in command for command in worker.left_behind())
        assert any("rhapsode_worker.encoding" in command for command in worker.left_behind())
        await close_stdin(worker)()
        assert await worker.ended() == -signal.SIGKILL
        while worker.left_behind():
            await anyio.lowlevel.checkpoint()


async def test_without_a_lifeline_standard_input_means_nothing() -> None:
    async with running(stdin=subprocess.PIPE) as worker:
        await close_stdin(worker)()
        async with worker.client as client:
            assert (await ask(client, "POST", "/speak", {"text": "Still here."}))[0] == 200


async def test_a_worker_that_is_killed_takes_its_encoders_with_it() -> None:
    async with running() as worker:
        worker.signal(signal.SIGKILL)
        assert await worker.ended() == -signal.SIGKILL
        while worker.left_behind():
            await anyio.lowlevel.checkpoint()


@pytest.mark.contract("2.stop.exits-zero")
async def test_a_signal_in_its_last_moment_does_not_change_how_a_worker_ended() -> None:
    async with running(str(ADAPTERS / "late.py")) as worker:
        worker.signal()
        assert await worker.ended() == 0
