"""Workers on another machine that cannot be reached: lost and met again, never told to end for it.

What goes into a link that hangs arrives once it hangs no more.
"""

import os
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.patience import Patience
from rhapsode.workers.worker import Worker
from rhapsode_contract import ModelUnavailable
from rhapsode_http import Client

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
Serve = Callable[..., AbstractAsyncContextManager[Any]]
OpenRemote = Callable[..., AbstractAsyncContextManager[Any]]
OpenRelay = Callable[..., AbstractAsyncContextManager[Any]]

SUSPICIOUS = Patience(
    probe_seconds=0.3, answer_seconds=0.3, connect_seconds=0.5, watch_seconds=1000.0
)
"""Whatever is found out here is so by whoever asks for something."""


def at(port: int) -> EngineEntry:
    """The entry of a worker on a port of this machine."""
    return EngineEntry(url=f"http://127.0.0.1:{port}")


class Told:
    """What lies on the way, and notes who is told to end."""

    def __init__(self) -> None:
        self.times = 0
        self.once = anyio.Event()

    def pass_on(self, piece: bytes) -> bytes:
        if piece.startswith(b"POST /terminate"):
            self.times += 1
            self.once.set()
        return piece


async def test_a_worker_behind_a_link_that_hangs_goes_on_and_is_met_again(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    told = Told()
    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_request=told.pass_on) as relay,
        serve({"tone": at(relay.port)}, patience=SUSPICIOUS) as core,
    ):
        assert (await core.speak(engine="tone", text="Hi.")).status_code == 200
        relay.hold()
        assert (await core.http.get("/engines/tone/voices")).status_code == 503
        for _ in range(3):
            refused = await core.speak(engine="tone", text="Hi.")
            assert refused.status_code == 503
            assert refused.json()["error"]["code"] == "model_unavailable"
            assert "cannot be reached" in refused.json()["error"]["message"]
        relay.resume()
        assert (await core.speak(engine="tone", text="Hi.")).status_code == 200
        summary = (await core.http.get("/engines")).json()[0]
        assert (summary["model"], summary["restarts"]) == ("loaded", 1)
        models = (await core.http.get("/residency")).json()["models"]
        assert [model["engine"] for model in models] == ["tone"]
        assert (told.times, remote.exits) == (0, [])


async def test_a_worker_that_dies_in_the_midst_of_a_stream_has_crashed(
    serve: Serve, open_remote: OpenRemote
) -> None:
    async with (
        open_remote("pace=1") as remote,
        serve({"tone": at(remote.port)}, patience=SUSPICIOUS) as core,
    ):
        asked = {"engine": "tone", "text": "word " * 800, "stream": True}
        async with core.http.stream("POST", "/speak", json=asked) as answer:
            pieces = answer.aiter_raw()
            await anext(pieces)
            os.kill(remote.pids[-1], signal.SIGKILL)
            with pytest.raises(httpx.RemoteProtocolError):
                async for _ in pieces:
                    pass
        while (summary := (await core.http.get("/engines")).json()[0])["restarts"] != 1:
            assert summary["restarts"] == 0
        metrics = (await core.http.get("/metrics")).text
        assert 'rhapsode_restarts_total{engine="tone"} 1.0' in metrics


async def test_a_load_that_takes_too_long_is_told_of_to_a_worker_that_answers_only(
    open_worker: OpenWorker, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    told = Told()
    async with (
        open_remote("slow-load=1000") as remote,
        open_relay(remote.port, edit_request=told.pass_on) as relay,
        open_worker(
            at(relay.port), patience=SUSPICIOUS, load_seconds=0.3, grace_seconds=0.3
        ) as worker,
    ):
        session = await worker.ensure_up()
        relay.hold()
        with pytest.raises(ModelUnavailable, match="not loaded within"):
            await worker.ensure_loaded("plain")
        await session.ended.wait()
        assert worker.summary().restarts == 1
        relay.resume()
        session = await worker.ensure_up()
        assert told.times == 0
        with pytest.raises(ModelUnavailable, match="not loaded within"):
            await worker.ensure_loaded("plain")
        await told.once.wait()
        await session.ended.wait()
        assert "not loaded within" in (worker.summary().last_error or "")


async def test_an_end_that_cannot_be_told_now_is_not_told_later_either(
    open_worker: OpenWorker, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    told = Told()
    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_request=told.pass_on) as relay,
        open_worker(at(relay.port), patience=SUSPICIOUS) as worker,
    ):
        await worker.ensure_loaded("plain")
        relay.hold()
        with pytest.raises(ModelUnavailable, match="did not hear"):
            await worker.end()
        relay.resume()
        await worker.ensure_loaded("plain")
        assert (told.times, remote.exits) == (0, [])


async def test_an_unload_over_a_link_that_is_lost_is_no_success(
    open_worker: OpenWorker, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    async with (
        open_remote() as remote,
        open_relay(remote.port) as relay,
        open_worker(at(relay.port), patience=SUSPICIOUS, grace_seconds=0.3) as worker,
    ):
        await worker.ensure_loaded("plain")
        relay.hold()
        with pytest.raises(ModelUnavailable, match="/unload: not there within"):
            await worker.unload()
        relay.resume()
        await worker.ensure_loaded("plain")
        assert remote.exits == []


async def test_the_file_of_certificates_is_read_once_for_each_connection_made(
    open_worker: OpenWorker,
    open_remote: OpenRemote,
    open_relay: OpenRelay,
    identity: Any,
    tmp_path: Path,
) -> None:
    ca_file = tmp_path / "authorities.pem"
    ca_file.write_bytes(identity.certificate.read_bytes())
    async with open_remote() as remote, open_relay(remote.port, tls=identity.context) as relay:
        entry = EngineEntry(url=f"https://127.0.0.1:{relay.port}", ca_file=ca_file)
        async with open_worker(entry, patience=Patience()) as worker:
            session = await worker.ensure_up()
            ca_file.unlink()
            session.suspect()
            assert await worker.ensure_up() is session


async def test_nothing_that_goes_wrong_in_a_look_goes_further(
    open_worker: OpenWorker, open_remote: OpenRemote, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Client:
        raise RuntimeError("nobody has thought of this one")

    async with open_remote() as remote, open_worker(at(remote.port)) as worker:
        session = await worker.ensure_up()
        session.stranger = broken
        session.suspect()
        assert await worker.ensure_up() is session
    assert "a look at it broke off" in caplog.text
