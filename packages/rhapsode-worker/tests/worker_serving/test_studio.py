"""A studio without a network: what becomes of takes and encodings that nobody waits for."""

import gc
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import anyio
import pytest
from rhapsode_worker.encoded import Meter, encoded
from rhapsode_worker.encoding.encoder import Encoder
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.studio import Studio
from rhapsode_worker.take import Room, Take

from .player import Latch, Player
from .stage import happened, until

pytestmark = pytest.mark.anyio


async def test_a_take_abandoned_before_its_turn_is_not_begun_even_where_it_kept_its_place() -> None:
    player, latch = Player(), Latch()

    def hold(request: SpeakRequest) -> Iterator[bytes]:
        latch.hold()
        yield from player.play(request)

    player.score = hold
    studio = Studio(player)
    with anyio.fail_after(10):
        first = studio.record(SpeakRequest("first", "plain"))
        await happened(latch.reached)
        second = studio.record(SpeakRequest("second", "plain"))
        second.take.abandon()
        latch.open()
        await until(lambda: studio.waiting == 0)
        await studio.unload(lambda: None)
    assert player.events == ["load plain", "speak first", "unload"]
    first.abandon()
    assert studio.room.held_bytes == 0


@asynccontextmanager
async def no_encoder() -> AsyncGenerator[Encoder]:
    raise AssertionError("nothing was ever said")
    yield


async def test_an_encoding_that_is_left_at_once_leaves_nothing_open() -> None:
    room = Room(1)
    with anyio.fail_after(5):
        async with encoded(Take(room), no_encoder, Meter(NativeFormat(), 1), room):
            pass
    gc.collect()  # an open stream would warn, and a warning is an error here
    assert room.held_bytes == 0
