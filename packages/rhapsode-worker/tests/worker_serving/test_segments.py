"""Long text over the wire: one generation at a time, one answer."""

from collections.abc import Iterator

import pytest
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.variant import Variant

from .player import Latch, Player
from .stage import happened, on_stage, until

pytestmark = pytest.mark.anyio

TEXT = "One is short. Two is a little longer. Three ends it."
SILENCE = NativeFormat().silence(200)


class Splitter(Player):
    """A player that takes twenty-five characters at a time."""

    def variants(self) -> dict[str, Variant]:
        return {"split": Variant(segment_characters=25, joint_silence_ms=200)}


@pytest.mark.contract("8.split.declared")
async def test_the_split_is_declared(encoders: EncoderPool) -> None:
    async with on_stage(Splitter(), encoders) as on:
        (variant,) = (await on.ask("GET", "/capabilities")).json["variants"].values()
    assert variant["segmentation"] == {"supported": True, "segmentCharacters": 25}


@pytest.mark.contract("d.segments.mode-free")
@pytest.mark.parametrize("stream", [True, False])
async def test_the_answer_is_the_segments_and_their_joints(
    encoders: EncoderPool, stream: bool
) -> None:
    player = Splitter()
    heard: list[bytes] = []

    def score(request: SpeakRequest) -> Iterator[bytes]:
        audio = b"\x10\x00" * 2400 * (request.index + 1)
        heard.append(audio)
        yield audio

    player.score = score
    async with on_stage(player, encoders) as on:
        answer = await on.speak(text=TEXT, format="pcm", stream=stream)
    assert player.events[1:] == [
        "speak One is short.",
        "speak Two is a little longer.",
        "speak Three ends it.",
    ]
    assert answer.body == SILENCE.join(heard)


async def test_the_first_segment_is_heard_while_the_next_is_made(encoders: EncoderPool) -> None:
    player, latch = Splitter(), Latch()

    def score(request: SpeakRequest) -> Iterator[bytes]:
        if request.index == 1:
            latch.hold()
        yield bytes(9600)

    player.score = score
    async with on_stage(player, encoders) as on:
        response = await on.begin_speaking(text=TEXT, format="pcm")
        assert await response.read()
        await happened(latch.reached)
        latch.open()
        await response.read_all(limit_bytes=1 << 20)


async def test_a_listener_who_leaves_between_segments_stops_the_rest(encoders: EncoderPool) -> None:
    player, latch = Splitter(), Latch()

    def score(request: SpeakRequest) -> Iterator[bytes]:
        if request.index == 1:
            latch.hold()
        yield bytes(9600)

    player.score = score
    async with on_stage(player, encoders) as on:
        response = await on.begin_speaking(text=TEXT, format="pcm")
        await happened(latch.reached)
        response.abort()
        await until(lambda: on.server.in_flight == 0)
        latch.open()
        await on.studio.unload(lambda: None)
    assert [event for event in player.events if event.startswith("speak Three")] == []
