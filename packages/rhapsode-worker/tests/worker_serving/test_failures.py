"""Engines that fail, before the first audio and after it."""

import logging
import os
import signal
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from rhapsode_contract import RhapsodeError, Unsupported
from rhapsode_http import UpstreamTruncated
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.requests import SpeakRequest

from .player import Latch, Player, Score, tone
from .stage import Answer, happened, on_stage, until

pytestmark = pytest.mark.anyio

FORMATS = ["wav", "mp3", "opus", "flac", "pcm"]
TENTH = bytes(4800)


def raising(error: BaseException, after: int = 0) -> Score:
    """A score of `after` tenths of a second and then an error."""

    def score(_: SpeakRequest) -> Iterator[bytes]:
        yield from [TENTH] * after
        raise error

    return score


def at_once(error: BaseException) -> Score:
    """A score that raises where it is asked, not where it is read."""

    def score(_: SpeakRequest) -> Iterator[bytes]:
        raise error

    return score


def giving(*pieces: Any) -> Score:
    return lambda _: iter(pieces)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.contract("d.start.audio-first", "6.buffer.errors", "6.errors.internal")
async def test_an_engine_that_fails_before_any_audio_is_an_envelope_in_every_format(
    format: str, stream: bool, encoders: EncoderPool
) -> None:
    async with on_stage(Player(raising(ValueError("odd shape"))), encoders) as stage:
        answer = await stage.speak(format=format, stream=stream)
    assert (answer.status, answer.code) == (500, "internal")
    assert "odd shape" in answer.message


def giving_none(_: SpeakRequest) -> Any:
    return None


WRONG: list[tuple[Score, int, str]] = [
    (at_once(ValueError("now")), 500, "internal"),
    (raising(MemoryError()), 503, "oom"),
    (raising(RuntimeError("CUDA out of memory")), 503, "oom"),
    (raising(SystemExit(1)), 500, "internal"),
    (raising(KeyboardInterrupt()), 500, "internal"),
    (raising(Unsupported("not that", field="text")), 422, "unsupported"),
    (raising(RhapsodeError("without a code")), 500, "internal"),
    (giving(), 500, "internal"),
    (giving(b"", b""), 500, "internal"),
    (giving(b"x"), 500, "internal"),
    (giving("text"), 500, "internal"),
    (giving([0.5]), 500, "internal"),
    (giving(5), 500, "internal"),
    (giving(None), 500, "internal"),
    (giving_none, 500, "internal"),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("score", "status", "code"), WRONG)
@pytest.mark.contract("6.errors.oom", "8.errors.mapped")
async def test_what_an_engine_does_wrong_has_a_code_and_costs_nothing_else(
    score: Any, status: int, code: str, stream: bool, encoders: EncoderPool
) -> None:
    player = Player(score)
    async with on_stage(player, encoders) as stage:
        answer = await stage.speak(format="opus", stream=stream)
        assert (answer.status, answer.code) == (status, code)
        player.score = player.play
        assert (await stage.speak(format="opus", stream=stream)).status == 200
        assert stage.studio.room.held_bytes == 0


async def test_a_killed_encoder_is_worth_a_retry_and_the_retry_speaks(
    encoders: EncoderPool,
) -> None:
    latch = Latch()

    def held(request: SpeakRequest) -> Iterator[bytes]:
        yield tone(request)
        latch.hold()
        yield tone(request)

    answers: list[Answer] = []
    async with on_stage(Player(held), encoders) as stage:
        before = set(encoders.idle_pids)

        async def speak() -> None:
            answers.append(await stage.speak(format="mp3"))

        async with anyio.create_task_group() as group:
            group.start_soon(speak)
            await happened(latch.reached)
            # The encoder is at work once it has taken what the engine made.
            await until(lambda: stage.studio.room.held_bytes == 0)
            for pid in before - set(encoders.idle_pids):
                os.kill(pid, signal.SIGKILL)
            latch.open()
        assert (answers[0].status, answers[0].code) == (503, "model_unavailable")
        assert "signal 9" in answers[0].message
        assert (await stage.speak(format="mp3")).status == 200


async def test_a_failed_request_does_not_cost_a_warm_encoder(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        assert (await stage.speak(format="mp3")).status == 200
        before = encoders.idle_pids
        player.score = raising(ValueError("early"))
        assert (await stage.speak(format="mp3")).status == 500
    assert encoders.idle_pids == before


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.contract("6.abort.worker", "d.stream.abort")
async def test_a_stream_that_fails_midway_is_cut_and_never_ended(
    format: str, encoders: EncoderPool
) -> None:
    heard = Latch()

    def break_off(_: SpeakRequest) -> Iterator[bytes]:
        yield from [TENTH] * 20
        heard.hold()
        raise ValueError("midway")

    player = Player(break_off)
    async with on_stage(player, encoders) as stage:
        async with await stage.begin_speaking(format=format) as response:
            assert response.status == 200
            heard.open()
            with pytest.raises(UpstreamTruncated):
                await response.read_all(limit_bytes=1 << 30)
        assert response.trailers == []
        player.score = player.play
        assert (await stage.speak(format=format)).status == 200
        assert stage.studio.room.held_bytes == 0


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.contract("6.buffer.errors")
async def test_a_whole_answer_that_fails_midway_is_an_envelope(
    format: str, encoders: EncoderPool
) -> None:
    async with on_stage(Player(raising(MemoryError(), after=20)), encoders) as stage:
        answer = await stage.speak(format=format)
    assert (answer.status, answer.code) == (503, "oom")


@pytest.mark.contract("d.buffer.bound")
async def test_an_answer_is_bounded_whole_or_streamed(encoders: EncoderPool) -> None:
    # The variant allows 60 characters, so 60 seconds.
    player = Player(lambda _: iter([TENTH] * 601))
    async with on_stage(player, encoders) as stage:
        answer = await stage.speak(format="pcm")
        assert (answer.status, answer.code) == (500, "internal")
        assert "60 seconds" in answer.message
        with pytest.raises(UpstreamTruncated):
            await stage.speak(format="pcm", stream=True)
        player.score = lambda _: iter([TENTH] * 600)
        for stream in (False, True):
            body = (await stage.speak(format="pcm", stream=stream)).body
            assert len(body) == 600 * len(TENTH)
        assert stage.studio.room.held_bytes == 0


async def test_an_engine_without_end_is_stopped_at_the_bound(
    encoders: EncoderPool, caplog: pytest.LogCaptureFixture
) -> None:
    closed: list[bool] = []

    def endless(_: SpeakRequest) -> Iterator[bytes]:
        try:
            while True:
                yield TENTH
        finally:
            closed.append(True)

    player = Player(endless)
    async with on_stage(player, encoders) as stage:
        assert (await stage.speak()).code == "internal"
        with pytest.raises(UpstreamTruncated):
            await stage.speak(stream=True)
        player.score = player.play
        assert (await stage.speak()).status == 200
    assert closed == [True, True]
    assert "over 60 seconds" in caplog.text  # of the stream, whose listener could not be told


class Tape:
    """An iterator that is no generator, and wants to be closed."""

    def __init__(self, tenths: int) -> None:
        self._left = tenths
        self.was_closed = False

    def __iter__(self) -> "Tape":
        return self

    def __next__(self) -> bytes:
        if not self._left:
            raise StopIteration
        self._left -= 1
        return TENTH

    def close(self) -> None:
        self.was_closed = True


@pytest.mark.parametrize(("tenths", "status"), [(3, 200), (601, 500)])
async def test_whatever_an_engine_gives_is_closed_at_its_end(
    tenths: int, status: int, encoders: EncoderPool
) -> None:
    tape = Tape(tenths)
    player = Player(lambda _: tape)
    async with on_stage(player, encoders) as stage:
        assert (await stage.speak()).status == status
        player.score = player.play
        assert (await stage.speak()).status == 200
    assert tape.was_closed


@pytest.mark.contract("d.request-id.answered")
async def test_what_an_adapter_logs_carries_the_id_of_the_request(
    encoders: EncoderPool, caplog: pytest.LogCaptureFixture
) -> None:
    from rhapsode_http import request_id

    log = logging.getLogger("adapter")
    player = Player()

    def note(what: str) -> None:
        log.warning("%s for %s", what, request_id.get())

    def speak(request: SpeakRequest) -> Iterator[bytes]:
        note("speaking")
        return player.play(request)

    player.score = speak
    player.on_load = lambda variant: note(f"loading {variant}")
    async with on_stage(player, encoders) as stage:
        await stage.ask("POST", "/speak", {"text": "Hi."}, x_request_id="first")
        await stage.ask("POST", "/load", {"variant": "stereo"}, x_request_id="second")
    said = [record.getMessage() for record in caplog.records if record.name == "adapter"]
    assert said == ["loading plain for first", "speaking for first", "loading stereo for second"]


async def test_voices_that_cannot_be_listed_are_the_engines_fault(encoders: EncoderPool) -> None:
    player = Player()

    def fail() -> None:
        raise PermissionError("voices")

    player.on_voices = fail
    async with on_stage(player, encoders) as stage:
        for answer in (
            await stage.ask("GET", "/voices"),
            await stage.speak(voice="ann"),
        ):
            assert (answer.status, answer.code) == (500, "internal")
        assert (await stage.speak()).status == 200
