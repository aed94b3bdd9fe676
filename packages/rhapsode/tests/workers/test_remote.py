"""A worker on another machine: a real one, at the other end of a TCP connection."""

import os
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from pydantic import SecretStr
from rhapsode.settings.entry import EngineEntry
from rhapsode.speech.deadlines import Deadlines
from rhapsode.workers.patience import Patience
from rhapsode.workers.worker import Worker
from rhapsode_contract import Internal, ModelUnavailable
from rhapsode_http import Client, TcpAddress

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
Serve = Callable[..., AbstractAsyncContextManager[Any]]
OpenRemote = Callable[..., AbstractAsyncContextManager[Any]]
OpenRelay = Callable[..., AbstractAsyncContextManager[Any]]

HASTE = Patience(
    probe_seconds=0.5,
    pauses_seconds=(0.0, 0.1),
    connect_seconds=0.5,
    watch_seconds=0.2,
    return_seconds=0.02,
)
LONG = "word " * 800
"""Minutes of audio."""


def at(port: int, path: str = "", scheme: str = "http", **fields: Any) -> EngineEntry:
    """The entry of a worker on a port of this machine."""
    return EngineEntry(url=f"{scheme}://127.0.0.1:{port}{path}", **fields)


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what nobody is told of."""
    while not is_so():  # noqa: ASYNC110 (a turn of the loop would starve the process)
        await anyio.sleep(0.01)


def assert_is_speech(answer: httpx.Response) -> None:
    assert answer.status_code == 200, answer.text
    assert answer.content.startswith(b"RIFF")
    assert len(answer.content) > 1000


@pytest.mark.contract("1.remote.url")
async def test_a_worker_at_a_url_is_an_engine_like_any_other(
    serve: Serve, open_remote: OpenRemote
) -> None:
    async with open_remote() as remote, serve({"tone": at(remote.port)}) as core:
        for stream in (False, True):
            assert_is_speech(await core.speak(engine="tone", text="Hello.", stream=stream))
        voices = await core.http.get("/engines/tone/voices")
        assert voices.json()[0]["id"]
        residency = (await core.http.get("/residency")).json()
        assert [model["engine"] for model in residency["models"]] == ["tone"]
        summary = (await core.http.get("/engines")).json()[0]
        assert (summary["process"], summary["model"]) == ("up", "loaded")
    # A core that ends takes no worker with it that is not its own.
    assert remote.exits == []


async def test_a_worker_beyond_loopback_is_shown_its_token(
    serve: Serve, open_remote: OpenRemote
) -> None:
    async with open_remote(listen="tcp:0.0.0.0:0", token="s3cret") as remote:
        async with serve({"tone": at(remote.port, token=SecretStr("s3cret"))}) as core:
            assert_is_speech(await core.speak(engine="tone", text="Hello."))
        for entry in (at(remote.port), at(remote.port, token=SecretStr("guessed"))):
            async with serve({"tone": entry}) as core:
                answer = await core.speak(engine="tone", text="Hello.")
                assert answer.status_code == 503
                assert answer.json()["error"]["code"] == "model_unavailable"
                assert "token" in answer.json()["error"]["message"]
                assert "s3cret" not in answer.text
                assert "guessed" not in answer.text


async def test_tls_with_a_certificate_of_the_operators_own(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay, identity: Any
) -> None:
    async with open_remote() as remote, open_relay(remote.port, tls=identity.context) as relay:
        entry = at(relay.port, scheme="https", ca_file=identity.certificate)
        async with serve({"tone": entry}) as core:
            for stream in (False, True):
                assert_is_speech(await core.speak(engine="tone", text="Hello.", stream=stream))


async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(
    open_worker: OpenWorker, open_relay: OpenRelay, identity: Any
) -> None:
    async with (
        open_relay(1, tls=identity.context) as relay,
        open_worker(at(relay.port, scheme="https")) as worker,
    ):
        with pytest.raises(ModelUnavailable, match="https://127.*(?i:certificate)"):
            await worker.ensure_up()


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_file_that_holds_no_certificates_is_named(
    open_worker: OpenWorker, tmp_path: Path, content: str | None
) -> None:
    ca_file = tmp_path / "authorities.pem"
    if content is not None:
        ca_file.write_text(content)
    async with open_worker(at(1, scheme="https", ca_file=ca_file)) as worker:
        with pytest.raises(Internal, match=r"caFile: .*/authorities\.pem: "):
            await worker.ensure_up()
        assert worker.summary().process == "down"


async def test_a_worker_may_lie_below_a_path(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    def below(piece: bytes) -> bytes:
        return piece.replace(b" /in/the%20attic/", b" /")

    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_request=below) as relay,
        serve({"tone": at(relay.port, "/in/the%20attic/")}) as core,
    ):
        assert_is_speech(await core.speak(engine="tone", text="Hello."))


async def test_the_engine_at_the_url_has_to_be_the_one_that_was_meant(
    open_worker: OpenWorker, open_remote: OpenRemote
) -> None:
    async with open_remote() as remote, open_worker(at(remote.port), engine="viola") as worker:
        with pytest.raises(Internal, match="'tone'.*'viola'"):
            await worker.ensure_up()
        await anyio.wait_all_tasks_blocked()
        assert worker.summary().process == "down"


@pytest.mark.contract("9.refuse.too-high")
async def test_a_remote_worker_that_speaks_a_contract_above_ours_is_refused(
    open_worker: OpenWorker, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    def newer(piece: bytes) -> bytes:
        return piece.replace(b'"contract":1', b'"contract":7')

    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_answer=newer) as relay,
        open_worker(at(relay.port)) as worker,
    ):
        with pytest.raises(Internal, match="contract 7.*1"):
            await worker.ensure_up()


@pytest.mark.contract("2.stop.remote-kept")
async def test_a_remote_worker_is_asked_to_end_and_its_replacement_is_used(
    serve: Serve, open_remote: OpenRemote
) -> None:
    async with (
        open_remote() as remote,
        serve({"tone": at(remote.port)}, patience=HASTE) as core,
    ):
        for count in (1, 2):
            assert_is_speech(await core.speak(engine="tone", text="Hello."))
            freed = await core.http.post("/engines/tone/unload")
            assert freed.status_code == 200
            assert (freed.json()["process"], freed.json()["restarts"]) == ("down", 0)
            await until(lambda seen=count: len(remote.exits) == seen)
            await remote.is_ready.wait()
        assert remote.exits == [0, 0]
        assert_is_speech(await core.speak(engine="tone", text="Hello."))


async def test_an_unload_of_a_remote_worker_may_keep_its_process(
    serve: Serve, open_remote: OpenRemote
) -> None:
    async with open_remote() as remote, serve({"tone": at(remote.port)}) as core:
        assert_is_speech(await core.speak(engine="tone", text="Hello."))
        freed = (await core.http.post("/engines/tone/unload?mode=unload")).json()
        assert (freed["process"], freed["model"]) == ("up", "unloaded")
        assert_is_speech(await core.speak(engine="tone", text="Hello."))
        assert remote.exits == []


async def test_a_link_that_is_lost_is_made_again_by_itself(
    open_worker: OpenWorker, open_remote: OpenRemote
) -> None:
    async with (
        open_remote() as remote,
        open_worker(at(remote.port), patience=HASTE) as worker,
    ):
        session = await worker.ensure_loaded("plain")
        os.kill(remote.pids[-1], signal.SIGKILL)
        await session.ended.wait()
        assert worker.summary().model == "unloaded"
        await until(lambda: worker.summary().process == "up")
        assert worker.summary().restarts == 1
        assert len(remote.pids) == 2


async def test_nobody_waits_long_for_a_worker_that_is_not_there(open_worker: OpenWorker) -> None:
    patience = Patience(pauses_seconds=(1000.0,))
    async with open_worker(at(1), patience=patience) as worker:
        for _ in range(3):
            with pytest.raises(ModelUnavailable, match="http://127.0.0.1:1 cannot be reached"):
                await worker.ensure_up()


async def test_an_end_while_a_connection_is_being_made_is_an_end(
    open_worker: OpenWorker, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    async with (
        open_remote() as remote,
        open_relay(remote.port) as relay,
        open_worker(at(relay.port), patience=Patience(connect_seconds=20)) as worker,
    ):
        relay.hold()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.ensure_up)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()  # whoever waits on would have it connect once more
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.end)
            await anyio.wait_all_tasks_blocked()
            assert worker.summary().process == "starting"
            relay.resume()
        await until(lambda: remote.exits == [0])


async def test_one_that_does_not_even_hear_that_it_should_end_holds_nobody_up(
    open_worker: OpenWorker, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    patience = Patience(connect_seconds=0.5, watch_seconds=1000.0)
    async with (
        open_remote() as remote,
        open_relay(remote.port) as relay,
        open_worker(at(relay.port), patience=patience, grace_seconds=1000.0) as worker,
    ):
        await worker.ensure_loaded("plain")
        relay.hold()
        with pytest.raises(ModelUnavailable, match="did not hear"):
            await worker.end()


@pytest.mark.parametrize("mode", ["terminate", "unload"])
async def test_freeing_what_cannot_be_told_says_so_and_what_is_still_there_is_found(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay, mode: str
) -> None:
    is_deaf = False

    def swallow(piece: bytes) -> bytes:
        return b"" if is_deaf else piece

    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_request=swallow) as relay,
        serve({"tone": at(relay.port)}, patience=HASTE, drain_grace_ms=500) as core,
    ):
        await core.speak(engine="tone", text="Hello.", keepAliveSeconds=-1)
        is_deaf = True
        for is_known in (False, True):  # that the link hangs
            freed = await core.http.post(f"/engines/tone/unload?mode={mode}")
            if mode == "terminate" or not is_known:
                assert freed.status_code == 503, freed.text
                assert freed.json()["error"]["code"] == "model_unavailable"
        is_deaf = False
        while not (listed := (await core.http.get("/residency")).json()["models"]):
            await anyio.lowlevel.checkpoint()
        assert [(model["engine"], model["leases"]) for model in listed] == [("tone", 0)]
        assert remote.exits == []


async def test_audio_that_comes_is_a_better_sign_of_life_than_an_answer(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    asked: list[bytes] = []

    def swallow(piece: bytes) -> bytes:
        if not piece.startswith(b"GET ") or not is_heard.is_set():
            return piece
        asked.append(piece)
        return b""

    is_heard = anyio.Event()
    async with (
        open_remote("pace=4") as remote,
        open_relay(remote.port, edit_request=swallow) as relay,
        serve({"tone": at(relay.port)}, patience=HASTE) as core,
    ):
        said = {"engine": "tone", "text": LONG, "stream": True}
        async with core.http.stream("POST", "/speak", json=said) as answer:
            pieces = answer.aiter_raw()
            await anext(pieces)
            is_heard.set()
            while len(asked) < 4:
                await anext(pieces)


async def test_a_worker_that_never_hears_its_end_is_let_alone_for_longer_each_time(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    told: list[float] = []

    def forbid(piece: bytes) -> bytes:
        if piece.startswith(b"POST /terminate"):
            told.append(anyio.current_time())
            return piece.replace(b"POST /terminate", b"POST /forbidden", 1)
        return piece

    patience = replace(HASTE, pauses_seconds=(0.0, 0.2, 1000.0))
    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_request=forbid) as relay,
        serve({"tone": at(relay.port)}, patience=patience) as core,
    ):
        await core.speak(engine="tone", text="Hello.", keepAliveSeconds=0)
        while len(told) < 2:
            await core.http.post("/engines/tone/unload")
        while (await core.http.get("/engines")).json()[0]["process"] != "down":
            await anyio.lowlevel.checkpoint()
        seen = len(told)
        for _ in range(50):
            await core.http.get("/health")
        assert len(told) == seen
        assert remote.exits == []


async def test_a_model_that_others_load_is_found_with_what_it_takes(
    serve: Serve, open_remote: OpenRemote, second_tone: EngineEntry
) -> None:
    headers = [(b"content-type", b"application/json")]
    async with (
        open_remote("slow-load=0.5") as remote,
        Client(TcpAddress("127.0.0.1", remote.port)) as friend,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(friend.request, "POST", "/load", headers, b'{"variant":"dialled"}')
        await until_loading(friend)
        async with serve({"tone": at(remote.port), "other": second_tone}, patience=HASTE) as core:
            while not (listed := (await core.http.get("/residency")).json()["models"]):
                await anyio.lowlevel.checkpoint()
            assert [(model["engine"], model["variant"]) for model in listed] == [
                ("tone", "dialled")
            ]
            await friend.request("POST", "/load", headers, b'{"variant":"plain"}')
            while (await core.http.get("/engines")).json()[0]["variant"] != "plain":
                await anyio.lowlevel.checkpoint()
            assert (await core.speak(engine="other", text="Hi.")).status_code == 200
            listed = (await core.http.get("/residency")).json()["models"]
            assert [model["engine"] for model in listed] == ["other"]


async def until_loading(friend: Client) -> None:
    """Waits until a worker has begun to load."""
    health = b""
    while b'"loading"' not in health:
        async with await friend.request("GET", "/health") as answer:
            health = await answer.read_all(limit_bytes=1000)


async def test_another_worker_at_the_same_address_is_not_taken_for_the_engine(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    async with (
        open_remote() as remote,
        open_remote(is_other=True) as other,
        open_relay(remote.port) as relay,
        serve({"tone": at(relay.port)}, patience=HASTE) as core,
    ):
        assert_is_speech(await core.speak(engine="tone", text="Hello."))
        relay.target = other.port
        os.kill(remote.pids[-1], signal.SIGKILL)
        while (await core.http.get("/engines")).json()[0]["process"] == "up":
            await anyio.lowlevel.checkpoint()
        refused = await core.speak(engine="tone", text="Hello.")
        assert refused.status_code == 500
        assert "'other', not 'tone'" in refused.json()["error"]["message"]


async def test_a_gateway_that_reaches_nobody_is_no_fault_of_the_engines(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    is_gateway = False

    def edit(piece: bytes) -> bytes:
        return piece.replace(b" 200 ", b" 502 ") if is_gateway else piece

    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_answer=edit) as relay,
        serve({"tone": at(relay.port)}) as core,
    ):
        assert_is_speech(await core.speak(engine="tone", text="Hello."))
        is_gateway = True
        refused = await core.speak(engine="tone", text="Hello.")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "model_unavailable")
        assert refused.json()["error"]["retryable"] is True


async def test_a_link_that_is_cut_in_a_load_is_worth_another_try(
    serve: Serve, open_remote: OpenRemote
) -> None:
    async with (
        open_remote("slow-load=1000") as remote,
        serve({"tone": at(remote.port)}) as core,
        anyio.create_task_group() as tasks,
    ):

        async def speak() -> None:
            refused = await core.speak(engine="tone", text="Hello.")
            error = refused.json()["error"]
            assert (error["code"], error["retryable"]) == ("model_unavailable", True)

        tasks.start_soon(speak)
        while (await core.http.get("/engines")).json()[0]["model"] != "loading":
            await anyio.lowlevel.checkpoint()
        os.kill(remote.pids[-1], signal.SIGKILL)


async def test_a_worker_that_is_not_there_has_not_crashed(serve: Serve) -> None:
    async with serve({"tone": at(1)}, patience=HASTE) as core:
        for _ in range(3):
            assert (await core.speak(engine="tone", text="Hello.")).status_code == 503
        assert (
            'rhapsode_restarts_total{engine="tone"} 0.0' in (await core.http.get("/metrics")).text
        )


async def test_a_link_that_stalls_and_comes_back_costs_only_what_was_on_it(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay
) -> None:
    async with (
        open_remote("pace=1") as remote,
        open_relay(remote.port) as relay,
        serve(
            {"tone": at(relay.port)}, patience=HASTE, deadlines=Deadlines(stall_seconds=5)
        ) as core,
    ):
        asked = {"engine": "tone", "text": LONG, "stream": True}
        async with core.http.stream("POST", "/speak", json=asked) as answer:
            pieces = answer.aiter_raw()
            await anext(pieces)
            relay.hold()
            with pytest.raises(httpx.RemoteProtocolError):
                async for _ in pieces:
                    pass
        for _ in range(3):
            with anyio.fail_after(5):
                refused = await core.speak(engine="tone", text="Hello.")
            assert refused.status_code == 503
            assert refused.json()["error"]["code"] == "model_unavailable"
            assert refused.headers["retry-after"]
        relay.resume()
        assert_is_speech(await core.speak(engine="tone", text="Hi."))
        residency = (await core.http.get("/residency")).json()
        assert [model["leases"] for model in residency["models"]] == [0]


@pytest.mark.parametrize("lost", [1, 2])
async def test_a_link_is_lost_when_two_answers_in_a_row_are_and_not_when_one_is(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay, lost: int
) -> None:
    told: list[bool] = []
    """For each answer that says how it is, since it has spoken, whether it arrives."""
    has_spoken = anyio.Event()

    def edit(piece: bytes) -> bytes:
        if b'"process":"up"' not in piece or not has_spoken.is_set():
            return piece
        told.append(len(told) >= lost)
        return piece if told[-1] else piece.replace(b" 200 ", b" 500 ")

    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_answer=edit) as relay,
        serve({"tone": at(relay.port)}, patience=HASTE) as core,
    ):
        await core.speak(engine="tone", text="Hello.")
        has_spoken.set()
        while sum(told) < 3:
            await anyio.lowlevel.checkpoint()
        assert (await core.http.get("/engines")).json()[0]["restarts"] == lost - 1


async def test_a_model_that_was_there_before_the_core_counts_and_gives_way(
    serve: Serve, open_remote: OpenRemote, second_tone: EngineEntry
) -> None:
    async with open_remote() as remote:
        async with serve({"tone": at(remote.port)}) as core:
            answer = await core.speak(engine="tone", text="Hello.", variant="dialled")
            assert answer.status_code == 200
        async with serve({"tone": at(remote.port), "other": second_tone}) as core:
            while not (listed := (await core.http.get("/residency")).json()["models"]):
                await anyio.lowlevel.checkpoint()
            assert [(model["engine"], model["variant"]) for model in listed] == [
                ("tone", "dialled")
            ]
            assert (await core.speak(engine="other", text="Hello.")).status_code == 200
            listed = (await core.http.get("/residency")).json()["models"]
            assert [model["engine"] for model in listed] == ["other"]
            assert len(remote.exits) == 1  # told to end, it went, and is back with nothing loaded


async def test_what_is_loaded_there_is_the_variant_that_a_request_means(
    serve: Serve, open_remote: OpenRemote
) -> None:
    async with open_remote() as remote:
        async with serve({"tone": at(remote.port)}) as core:
            await core.speak(engine="tone", text="Hello.", variant="dialled")
        async with serve({"tone": at(remote.port)}) as core:
            await core.speak(engine="tone", text="Hello.")
            assert (await core.http.get("/engines")).json()[0]["variant"] == "dialled"


async def test_a_model_that_went_with_its_process_behind_our_back_is_not_listed_for_ever(
    serve: Serve, open_remote: OpenRemote
) -> None:
    async with open_remote() as remote, serve({"tone": at(remote.port)}, patience=HASTE) as core:
        await core.speak(engine="tone", text="Hello.", keepAliveSeconds=-1)
        os.kill(remote.pids[-1], signal.SIGKILL)
        while (await core.http.get("/residency")).json()["models"]:
            await anyio.lowlevel.checkpoint()
        await remote.is_ready.wait()
        assert (await core.speak(engine="tone", text="Hello.")).status_code == 200
