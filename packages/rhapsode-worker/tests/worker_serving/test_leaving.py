"""Callers who leave while they wait for something other than audio, and whom a drain waits for."""

import asyncio
from functools import partial
from typing import Any

import anyio
import pytest
from rhapsode_worker.encoding.pool import EncoderPool

from .player import SECONDS, Latch, Player
from .stage import Stage, happened, on_stage, until

pytestmark = pytest.mark.anyio

VARIANTS = ("plain", "stereo")


async def leave_the_line(stage: Stage, requests: list[tuple[str, dict[str, Any] | bytes]]) -> None:
    """Sends requests until all of them stand in line, and hangs up on them."""
    async with anyio.create_task_group() as group:
        for target, body in requests:
            before = stage.studio.waiting
            group.start_soon(stage.ask, "POST", target, body)
            await until(lambda before=before: stage.studio.waiting > before)
        group.cancel_scope.cancel()


@pytest.mark.contract("d.queue.hang-up")
async def test_a_load_or_an_unload_whose_caller_left_the_line_never_happens(
    encoders: EncoderPool,
) -> None:
    player, latch = Player(), Latch()
    player.on_load = lambda _: latch.hold()
    async with on_stage(player, encoders) as stage, anyio.create_task_group() as group:
        group.start_soon(partial(stage.speak, text="first"))
        await happened(latch.reached)
        loads = [("/load", {"variant": VARIANTS[n % 2]}) for n in range(10)]
        await leave_the_line(stage, [*loads, ("/unload", b"")])
        await until(lambda: stage.studio.waiting == 0)
        latch.open()
    assert player.events == ["load plain", "speak first"]


@pytest.mark.contract("d.queue.limit", "6.errors.overloaded")
async def test_loads_and_unloads_stand_in_the_same_line(encoders: EncoderPool) -> None:
    player, latch = Player(), Latch()
    player.on_load = lambda _: latch.hold()
    async with on_stage(player, encoders) as stage, anyio.create_task_group() as group:
        group.start_soon(partial(stage.speak, text="first"))
        await happened(latch.reached)
        for number in range(32):
            target = ("/load", "/unload")[number % 2]
            group.start_soon(stage.ask, "POST", target)
        await until(lambda: stage.studio.waiting == 32)
        for target, body in (("/load", b""), ("/unload", b""), ("/speak", {"text": "Hello."})):
            refusal = await stage.ask("POST", target, body)
            assert (refusal.status, refusal.code) == (429, "overloaded")
        latch.open()


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("POST", "/load", {}),
        ("GET", "/voices", b""),
        ("GET", "/voices/ann/preview", b""),
        ("POST", "/speak", {"text": "Hello.", "voice": "ann"}),
    ],
    ids=["load", "voices", "preview", "speak"],
)
@pytest.mark.contract("2.stop.finishes")
async def test_a_drain_waits_for_nobody_who_has_left_whatever_hangs(
    method: str, target: str, body: dict[str, Any] | bytes, encoders: EncoderPool
) -> None:
    player, latch = Player(), Latch()
    player.on_load = lambda _: latch.hold()
    player.on_voices = latch.hold
    try:
        async with on_stage(player, encoders) as stage:
            async with anyio.create_task_group() as group:
                group.start_soon(stage.ask, method, target, body)
                await happened(latch.reached)
                group.cancel_scope.cancel()
            with anyio.fail_after(SECONDS / 2):  # while the adapter still hangs
                await until(lambda: stage.server.in_flight == 0)
                stage.server.drain()
                await until(lambda: not stage.socket.exists())  # which its end removes
    finally:
        latch.open()


@pytest.mark.contract("2.stop.finishes")
async def test_a_drain_waits_for_a_load_that_somebody_waits_for(encoders: EncoderPool) -> None:
    player, latch = Player(), Latch()
    player.on_load = lambda _: latch.hold()
    async with on_stage(player, encoders) as stage, anyio.create_task_group() as group:

        async def load() -> None:
            answer = await stage.ask("POST", "/load")
            assert (answer.status, answer.json["model"]) == (200, "loaded")

        group.start_soon(load)
        await happened(latch.reached)
        stage.server.drain()
        assert (await stage.ask("GET", "/health")).json["process"] == "draining"
        latch.open()


@pytest.mark.contract("d.verbs.answers")
async def test_a_load_is_answered_with_what_it_loaded_and_not_with_what_came_after(
    encoders: EncoderPool,
) -> None:
    player, latch, is_next = Player(), Latch(), Latch()
    answers: dict[str, Any] = {}
    async with on_stage(player, encoders) as stage, anyio.create_task_group() as group:
        loop = asyncio.get_running_loop()

        def load(variant: str) -> None:
            if variant == "plain":
                latch.hold()
                # The loop hears of this load only once the next one has begun.
                loop.call_soon_threadsafe(is_next.hold)
            else:
                is_next.open()

        async def ask(variant: str) -> None:
            answers[variant] = (await stage.ask("POST", "/load", {"variant": variant})).json

        player.on_load = load
        for variant in VARIANTS:
            group.start_soon(ask, variant)
            await happened(latch.reached)
        await until(lambda: stage.studio.waiting == 1)
        latch.open()
    assert {variant: health["variant"] for variant, health in answers.items()} == {
        variant: variant for variant in VARIANTS
    }
    assert {health["model"] for health in answers.values()} == {"loaded"}
