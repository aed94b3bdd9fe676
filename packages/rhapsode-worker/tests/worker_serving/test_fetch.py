"""Weights fetched over the socket, beside whoever speaks (contract § 8, "fetch")."""

import hashlib
import logging
import threading
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from rhapsode_contract import ModelUnavailable
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.weights import ReleaseFile, WeightFile, Weights

from .maker import Maker
from .player import SECONDS, Latch
from .stage import Answer, happened, on_stage, until

pytestmark = pytest.mark.anyio


@pytest.mark.contract("8.fetch.downloads")
async def test_a_fetch_answers_204_with_the_weights_there_and_no_model_loaded(
    encoders: EncoderPool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="rhapsode_worker")
    contents = b"weights" * 1000
    weights = weights_from(tmp_path, contents)
    weights.folder.mkdir()
    (weights.folder / "model.bin").write_bytes(contents)
    maker = Maker(tmp_path)
    maker.on_fetch = lambda _: weights.fetch()
    async with on_stage(maker, encoders) as stage:
        answer = await stage.ask("POST", "/fetch", {"variant": "stereo"})
        assert (answer.status, answer.body) == (204, b"")
        assert (await stage.ask("GET", "/health")).json["model"] == "unloaded"
    assert maker.events == ["fetch stereo"]
    lines = [vars(record) for record in caplog.records if vars(record).get("event") == "fetch"]
    assert (lines[-1]["received"], lines[-1]["total"]) == (7000, 7000)


def weights_from(folder: Path, contents: bytes) -> Weights:
    file = WeightFile(
        "model.bin",
        sha256=hashlib.sha256(contents).hexdigest(),
        size_bytes=len(contents),
        sources=[ReleaseFile("https://weights.invalid/model.bin")],
    )
    return Weights(folder / "weights", [file], environ={})


async def test_a_variant_that_is_not_there_is_refused_before_the_adapter(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    async with on_stage(maker, encoders) as stage:
        answer = await stage.ask("POST", "/fetch", {"variant": "huge"})
        assert (answer.status, answer.code) == (422, "unsupported")
    assert maker.events == []


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (OSError("no route to host"), 503, "model_unavailable"),
        (ModelUnavailable("model.bin: no source has it now"), 503, "model_unavailable"),
        (ValueError("no such file declared"), 500, "internal"),
        (SystemExit(1), 500, "internal"),
    ],
    ids=repr,
)
async def test_a_fetch_that_fails_says_whether_it_may_work_later(
    failure: BaseException, status: int, code: str, encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)

    def fail(_: str) -> None:
        raise failure

    maker.on_fetch = fail
    async with on_stage(maker, encoders) as stage:
        answer = await stage.ask("POST", "/fetch", {"variant": "plain"})
        assert (answer.status, answer.code) == (status, code)


async def test_a_fetch_runs_beside_who_speaks(encoders: EncoderPool, tmp_path: Path) -> None:
    maker, latch = Maker(tmp_path), Latch()
    maker.on_fetch = lambda _: latch.hold()
    answers: list[Answer] = []
    async with on_stage(maker, encoders) as stage, anyio.create_task_group() as group:

        async def fetch() -> None:
            answers.append(await stage.ask("POST", "/fetch", {"variant": "plain"}))

        group.start_soon(fetch)
        await happened(latch.reached)
        assert (await stage.speak()).status == 200
        assert answers == []
        latch.open()
    assert [answer.status for answer in answers] == [204]


@pytest.mark.parametrize("how", ["leaves", "stays"])
async def test_a_fetch_learns_whether_somebody_waits_for_it(
    how: str, encoders: EncoderPool, tmp_path: Path
) -> None:
    """Where nobody does, the request is over at once: a drain need not wait for the download."""
    maker, latch, done = Maker(tmp_path), Latch(), threading.Event()
    seen: list[bool] = []

    def fetch(_: str) -> None:
        seen.append(maker.is_fetch_abandoned())
        latch.hold()
        seen.append(maker.is_fetch_abandoned())
        done.set()

    maker.on_fetch = fetch
    async with on_stage(maker, encoders) as stage, anyio.create_task_group() as group:

        async def ask() -> None:
            await stage.ask("POST", "/fetch", {"variant": "plain"})

        group.start_soon(ask)
        await happened(latch.reached)
        if how == "leaves":
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await until(lambda: stage.server.in_flight == 0)
                latch.open()
                await happened(done)
        latch.open()
    assert seen == [False, how == "leaves"]


async def test_as_many_fetches_as_may_run_hold_up_nobody_else(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    """Neither while they run, nor once everybody who asked for them has left."""
    maker, may_end = Maker(tmp_path), threading.Event()
    begun = threading.Semaphore(0)

    def fetch(_: str) -> None:
        begun.release()
        assert may_end.wait(SECONDS)

    maker.on_fetch = fetch
    async with on_stage(maker, encoders) as stage:

        async def all_but_a_fetch_is_answered() -> None:
            refusal = await stage.ask("POST", "/fetch", {"variant": "plain"})
            assert (refusal.status, refusal.code) == (429, "overloaded")
            assert (await stage.ask("GET", "/voices")).status == 200
            assert (await stage.speak(voice="ann")).status == 200

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(stage.ask, "POST", "/fetch", {"variant": "plain"})
            for _ in range(4):
                await anyio.to_thread.run_sync(begun.acquire)
            await all_but_a_fetch_is_answered()
            group.cancel_scope.cancel()
        await until(lambda: stage.server.in_flight == 0)
        await all_but_a_fetch_is_answered()
        may_end.set()
        status = 429
        while status == 429:  # until the threads have said that they are done
            status = (await stage.ask("POST", "/fetch", {"variant": "plain"})).status
        assert status == 204
