"""Writes of one turn are one write, in order, and none is lost at an ending."""

import asyncio
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_http.cork import CorkedTransport

pytestmark = pytest.mark.anyio


class Recorder(asyncio.Transport):
    """A transport that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[Any] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.said.append(bytes(data))

    def write_eof(self) -> None:
        self.said.append("eof")

    def close(self) -> None:
        self.said.append("close")

    def abort(self) -> None:
        self.said.append("abort")

    def is_closing(self) -> bool:
        return "close" in self.said or "abort" in self.said

    def get_write_buffer_size(self) -> int:
        return 0


def corked() -> tuple[CorkedTransport, Recorder]:
    recorder = Recorder()
    return CorkedTransport(recorder, asyncio.get_running_loop()), recorder


async def turn_of_the_loop() -> None:
    await anyio.lowlevel.checkpoint()
    await anyio.lowlevel.checkpoint()


async def test_two_writes_of_one_turn_leave_as_one() -> None:
    cork, recorder = corked()
    cork.write(b"head")
    cork.write(b"body")
    assert recorder.said == []
    await turn_of_the_loop()
    assert recorder.said == [b"headbody"]


async def test_what_is_kept_counts_as_waiting() -> None:
    cork, _ = corked()
    cork.write(b"1234")
    assert cork.get_write_buffer_size() == 4
    cork.flush()
    assert cork.get_write_buffer_size() == 0


async def test_much_is_not_kept() -> None:
    cork, recorder = corked()
    for _ in range(64):
        cork.write(bytes(1024))
    assert sum(map(len, recorder.said)) == 64 * 1024


@pytest.mark.parametrize("ending", ["close", "eof"])
async def test_an_orderly_ending_comes_after_what_was_written(ending: str) -> None:
    cork, recorder = corked()
    cork.write(b"last words")
    cork.close() if ending == "close" else cork.write_eof()
    assert recorder.said == [b"last words", ending]
    await turn_of_the_loop()
    assert recorder.said == [b"last words", ending]


async def test_an_abort_sends_nothing_more() -> None:
    cork, recorder = corked()
    cork.write(b"never mind")
    cork.abort()
    await turn_of_the_loop()
    assert recorder.said == ["abort"]


@given(st.lists(st.binary(max_size=40_000), max_size=12))
def test_every_byte_leaves_in_order(pieces: list[bytes]) -> None:
    async def main() -> None:
        cork, recorder = corked()
        for number, piece in enumerate(pieces):
            cork.write(piece)
            if number % 3 == 2:
                await turn_of_the_loop()
        cork.flush()
        assert b"".join(recorder.said) == b"".join(pieces)

    anyio.run(main)
