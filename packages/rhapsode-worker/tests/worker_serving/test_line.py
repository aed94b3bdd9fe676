"""The line in front of the engine: order, limits, slow readers, and listeners who leave."""

import os
import signal
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup
from rhapsode_http import UpstreamTruncated
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.take import Room

from .player import SECONDS, Latch, Player
from .stage import Answer, Stage, happened, on_stage, until

pytestmark = pytest.mark.anyio

TENTH = bytes(4800)


class Crowd:
    """Requests sent one after the other, each once the one before stands in line."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.answers: dict[str, Answer] = {}

    async def join(self, group: TaskGroup, text: str, **fields: Any) -> None:
        before = self._stage.studio.waiting

        async def speak() -> None:
            self.answers[text] = await self._stage.speak(text=text, **fields)

        group.start_soon(speak)
        await until(lambda: self._stage.studio.waiting > before)


def hold_at(latch: Latch, player: Player, text: str = "first") -> None:
    """Makes a player hold still, before any audio, in the request of one text."""

    def score(request: SpeakRequest) -> Iterator[bytes]:
        if request.text == text:
            latch.hold()
        return player.play(request)

    player.score = score


class Duo(Player):
    """Can speak two utterances at once."""

    concurrency = 2


class Held:
    """The engine, busy with a first request until the block ends."""

    def __init__(
        self, stage: Stage, group: TaskGroup, *, is_cold: bool = False, **fields: Any
    ) -> None:
        """With `is_cold` the block begins while the engine may still be loading."""
        self._stage = stage
        self._is_cold = is_cold
        self._group = group
        self._fields = fields
        self.latch = Latch()
        self.answer: Answer | None = None

    async def __aenter__(self) -> "Held":
        hold_at(self.latch, self._stage.player)
        self._group.start_soon(self._speak)
        if not self._is_cold:
            await happened(self.latch.reached)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.latch.open()

    async def _speak(self) -> None:
        self.answer = await self._stage.speak(text="first", **self._fields)


@pytest.mark.contract("d.queue.order", "8.serial.default")
async def test_requests_are_spoken_one_at_a_time_in_the_order_they_came(
    encoders: EncoderPool,
) -> None:
    player = Player()
    texts = [f"number {n}" for n in range(8)]
    async with on_stage(player, encoders) as stage:
        crowd = Crowd(stage)
        async with anyio.create_task_group() as group, Held(stage, group):
            for n, text in enumerate(texts):
                await crowd.join(group, text, format="mp3" if n % 2 else "wav")
            assert player.events == ["load plain", "speak first"]
    assert player.events == ["load plain", "speak first", *(f"speak {text}" for text in texts)]
    assert {answer.status for answer in crowd.answers.values()} == {200}
    assert player.threads == {"engine-0"}


@pytest.mark.contract("d.queue.limit", "6.errors.overloaded", "d.errors.retry-after")
async def test_thirty_two_wait_and_one_more_is_overloaded(encoders: EncoderPool) -> None:
    async with on_stage(Player(), encoders) as stage:
        crowd = Crowd(stage)
        async with anyio.create_task_group() as group, Held(stage, group):
            for number in range(32):
                await crowd.join(group, f"number {number}")
            for stream in (False, True):
                refusal = await stage.speak(stream=stream)
                assert (refusal.status, refusal.code) == (429, "overloaded")
                assert int(refusal.headers["retry-after"]) >= 1
            assert (await stage.ask("GET", "/health")).status == 200
        assert {answer.status for answer in crowd.answers.values()} == {200}
        assert len(crowd.answers) == 32
        assert (await stage.speak()).status == 200


@pytest.mark.contract("d.queue.slow-reader")
async def test_a_reader_who_reads_nothing_holds_up_nobody(encoders: EncoderPool) -> None:
    player = Player(lambda _: iter([TENTH] * 600))  # 2.9 MB: far more than sockets hold
    async with on_stage(player, encoders) as stage:
        async with await stage.begin_speaking(format="pcm") as slow:
            for format in ("wav", "mp3", "pcm"):
                answer = await stage.speak(format=format, stream=True)
                assert answer.status == 200
            assert len(await slow.read_all(limit_bytes=1 << 30)) == 600 * len(TENTH)
        assert stage.studio.room.held_bytes == 0


async def test_neither_a_slow_reader_nor_one_in_line_holds_an_encoder(
    encoders: EncoderPool,
) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        assert (await stage.speak(format="flac")).status == 200
        idle = set(encoders.idle_pids)
        crowd = Crowd(stage)
        async with anyio.create_task_group() as group, Held(stage, group, format="flac"):
            for number in range(5):
                await crowd.join(group, f"number {number}", format="flac")
            assert set(encoders.idle_pids) == idle
        noise = os.urandom(4800)  # does not compress, so that it fills the sockets
        player.score = lambda _: iter([noise] * 600)
        async with await stage.begin_speaking(format="flac"):
            await until(lambda: bool(idle & set(encoders.idle_pids)))


@pytest.mark.contract("8.abandoned.awaited", "d.queue.hang-up")
async def test_an_abandoned_synthesis_is_waited_for_before_the_next_begins(
    encoders: EncoderPool,
) -> None:
    player, latch = Player(), Latch()
    async with on_stage(player, encoders) as stage:
        hold_at(latch, player)
        async with anyio.create_task_group() as group:
            group.start_soon(partial(stage.speak, text="first"))
            await happened(latch.reached)
            group.cancel_scope.cancel()  # the client hangs up
        await until(lambda: stage.server.in_flight == 0)
        crowd = Crowd(stage)
        async with anyio.create_task_group() as group:
            await crowd.join(group, "second")
            assert player.events == ["load plain", "speak first"]
            latch.open()
    assert player.events == ["load plain", "speak first", "speak second"]
    assert crowd.answers["second"].status == 200


@pytest.mark.parametrize("verb", ["/load", "/unload"])
@pytest.mark.contract("8.abandoned.awaited")
async def test_a_load_or_an_unload_waits_for_an_abandoned_synthesis_too(
    verb: str, encoders: EncoderPool
) -> None:
    player, latch = Duo(), Latch()
    async with on_stage(player, encoders) as stage:
        hold_at(latch, player)
        async with anyio.create_task_group() as group:
            group.start_soon(partial(stage.speak, text="first"))
            await happened(latch.reached)
            group.cancel_scope.cancel()
        async with anyio.create_task_group() as group:
            body = {"variant": "stereo"} if verb == "/load" else b""
            group.start_soon(stage.ask, "POST", verb, body)
            await until(lambda: stage.studio.waiting == 1)
            assert player.events == ["load plain", "speak first"]
            latch.open()
    assert player.events[2] == "unload"


@pytest.mark.contract("d.queue.hang-up")
async def test_a_stream_whose_listener_leaves_is_closed_where_it_ran(
    encoders: EncoderPool,
) -> None:
    closed_on: list[str] = []

    def endless(_: SpeakRequest) -> Iterator[bytes]:
        try:
            while True:
                yield TENTH
        finally:
            closed_on.append(threading.current_thread().name)

    player = Player(endless)
    async with on_stage(player, encoders) as stage:
        for format in ("wav", "opus"):
            async with await stage.begin_speaking(format=format) as response:
                assert await response.read()
        player.score = player.play
        assert (await stage.speak()).status == 200
        await until(lambda: stage.studio.room.held_bytes == 0)
    assert closed_on == ["engine-0", "engine-0"]


async def test_a_request_abandoned_in_line_is_never_spoken_and_leaves_its_place(
    encoders: EncoderPool,
) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        crowd = Crowd(stage)
        async with anyio.create_task_group() as group, Held(stage, group):
            async with anyio.create_task_group() as leaving:
                await crowd.join(leaving, "second")
                leaving.cancel_scope.cancel()
            await until(lambda: stage.studio.waiting == 0)
            await crowd.join(group, "third")
    assert player.events == ["load plain", "speak first", "speak third"]


async def test_past_its_room_the_engine_waits_for_its_readers(encoders: EncoderPool) -> None:
    given = 0

    def count(_: SpeakRequest) -> Iterator[bytes]:
        nonlocal given
        for number in range(1000):
            given = number + 1
            yield TENTH

    player = Player(count)
    async with on_stage(player, encoders) as stage:
        stage.studio.room = Room(10 * len(TENTH))
        async with await stage.begin_speaking(format="pcm", variant="dialled") as slow:
            await until(lambda: stage.studio.room.held_bytes >= 10 * len(TENTH))
            assert given < 1000
            assert len(await slow.read_all(limit_bytes=1 << 30)) == 1000 * len(TENTH)
        async with await stage.begin_speaking(format="pcm", variant="dialled"):
            await until(lambda: stage.studio.room.held_bytes >= 10 * len(TENTH))
        player.score = player.play
        assert (await stage.speak()).status == 200  # the one who left holds no room
        await until(lambda: stage.studio.room.held_bytes == 0)


async def test_an_encoder_that_dies_costs_its_own_request_alone(encoders: EncoderPool) -> None:
    player, heard = Player(), Latch()

    def pause(_: SpeakRequest) -> Iterator[bytes]:
        yield from [TENTH] * 20
        heard.hold()
        yield from [TENTH] * 20

    async with on_stage(player, encoders) as stage:
        assert (await stage.speak(format="opus")).status == 200
        before = set(encoders.idle_pids)
        player.score = pause
        async with await stage.begin_speaking(format="opus") as response:
            assert await response.read()
            (lent,) = before - set(encoders.idle_pids)
            os.kill(lent, signal.SIGKILL)
            with pytest.raises(UpstreamTruncated):
                await response.read_all(limit_bytes=1 << 30)
        heard.open()
        player.score = player.play
        assert (await stage.speak(format="opus")).status == 200
        await until(lambda: stage.studio.room.held_bytes == 0)


@pytest.mark.contract("8.serial.concurrency")
async def test_an_engine_that_can_speaks_two_at_once_from_a_cold_start(
    encoders: EncoderPool,
) -> None:
    together = threading.Barrier(2)

    def meet(request: SpeakRequest) -> Iterator[bytes]:
        together.wait(SECONDS)
        yield from duo.play(request)

    duo = Duo(meet)
    statuses: list[int] = []
    async with on_stage(duo, encoders) as stage, anyio.create_task_group() as group:

        async def speak(text: str) -> None:
            statuses.append((await stage.speak(text=text)).status)

        for text in ("a b", "c d", "e f", "g h"):
            group.start_soon(speak, text)
    assert statuses == [200] * 4
    assert duo.events.count("load plain") == 1


async def test_a_switch_of_variants_waits_for_what_is_being_spoken(encoders: EncoderPool) -> None:
    player = Duo()
    async with on_stage(player, encoders) as stage:
        crowd = Crowd(stage)
        async with anyio.create_task_group() as group, Held(stage, group):
            await crowd.join(group, "second", variant="stereo")
            assert player.events == ["load plain", "speak first"]
    assert player.events[2:] == ["unload", "load stereo", "speak second"]


@pytest.mark.contract("d.queue.responsive")
async def test_listings_answer_while_a_model_loads_and_while_it_speaks(
    encoders: EncoderPool,
) -> None:
    player, loading = Player(), Latch()
    player.on_load = lambda _: loading.hold()
    async with (
        on_stage(player, encoders) as stage,
        anyio.create_task_group() as group,
        Held(stage, group, is_cold=True) as held,
    ):
        await happened(loading.reached)
        assert (await stage.ask("GET", "/health")).json["model"] == "loading"
        assert "current" not in (await stage.ask("GET", "/capabilities")).json
        loading.open()
        await happened(held.latch.reached)
        assert (await stage.ask("GET", "/health")).json["model"] == "loaded"
        assert (await stage.ask("GET", "/capabilities")).json["current"]
        assert len((await stage.ask("GET", "/voices")).json) == 4


@pytest.mark.contract("2.stop.finishes", "2.stop.refuses", "d.drain.reads")
async def test_a_draining_worker_finishes_reads_and_refuses(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        crowd = Crowd(stage)
        async with anyio.create_task_group() as group, Held(stage, group, stream=True) as held:
            await crowd.join(group, "second")
            answer = await stage.ask("POST", "/terminate")
            assert (answer.status, answer.body) == (202, b"")
            for method, target, body in (
                ("POST", "/speak", {"text": "Hi."}),
                ("POST", "/load", b""),
                ("POST", "/unload", b""),
                ("POST", "/terminate", b""),
            ):
                refusal = await stage.ask(method, target, body)
                assert (refusal.status, refusal.code) == (429, "overloaded")
            for target in ("/health", "/capabilities", "/voices"):
                assert (await stage.ask("GET", target)).status == 200
            assert (await stage.ask("GET", "/health")).json["process"] == "draining"
        assert held.answer is not None
        assert held.answer.trailers["x-rhapsode-duration-ms"] == "250"
        assert crowd.answers["second"].status == 200
