"""Samples on their way from the engine's thread to the loop, and the room they take meanwhile."""

import threading
from collections.abc import Callable
from random import Random

import anyio
import anyio.to_thread
import pytest
from rhapsode_contract import Internal
from rhapsode_worker.take import Abandoned, Room, Take

pytestmark = pytest.mark.anyio

ROOMY = 1 << 30


class EngineThread:
    """One thread that stands for the engine's."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.outcome: BaseException | None = None

        def run() -> None:
            try:
                work()
            except BaseException as error:
                self.outcome = error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    async def ends(self) -> None:
        await anyio.to_thread.run_sync(self._thread.join, abandon_on_cancel=True)


async def everything(take: Take) -> bytes:
    return b"".join([piece async for piece in take.pieces()])


async def loop_turn() -> None:
    """Lets the loop run what other threads have given it."""
    await anyio.wait_all_tasks_blocked()


async def test_a_whole_take_gives_all_that_was_put_in_and_takes_no_more_room() -> None:
    room = Room(ROOMY)
    take = Take(room)

    def speak() -> None:
        for number in range(100):
            take.put(bytes([number]))
        take.end()

    engine = EngineThread(speak)
    with anyio.fail_after(5):
        assert await everything(take) == bytes(range(100))
        await engine.ends()
    assert room.held_bytes == 0


async def test_a_failed_take_gives_what_there_was_and_then_its_failure() -> None:
    room = Room(ROOMY)
    take = Take(room)
    take.put(b"some")
    take.end(Internal("broke"))
    got: list[bytes] = []
    with anyio.fail_after(5), pytest.raises(Internal, match="broke"):
        async for piece in take.pieces():
            got.append(piece)  # noqa: PERF401  # what came before the failure is looked at
    assert got == [b"some"]
    assert room.held_bytes == 0


async def test_begins_waits_for_samples_and_tells_a_failure_before_any() -> None:
    heard, failed, silent = (Take(Room(ROOMY)) for _ in range(3))
    EngineThread(lambda: heard.put(b"some"))
    EngineThread(lambda: failed.end(Internal("broke")))
    EngineThread(silent.end)
    with anyio.fail_after(5):
        await heard.begins()
        await silent.begins()
        with pytest.raises(Internal, match="broke"):
            await failed.begins()


async def test_a_failure_after_samples_does_not_hide_them() -> None:
    take = Take(Room(ROOMY))
    take.put(b"some")
    take.end(Internal("broke"))
    with anyio.fail_after(5):
        await take.begins()


async def test_no_samples_are_a_sign_of_life_and_nothing_more() -> None:
    room = Room(ROOMY)
    take = Take(room)
    take.put(b"")
    take.end()
    assert [piece async for piece in take.pieces()] == []
    take.abandon()
    with pytest.raises(Abandoned):
        take.put(b"")


async def test_the_engine_waits_where_there_is_no_room_and_goes_on_when_there_is() -> None:
    room = Room(10)
    take = Take(room)
    filled = threading.Event()

    def speak() -> None:
        take.put(b"x" * 10)
        filled.set()
        take.put(b"y" * 10)
        take.end()

    engine = EngineThread(speak)
    with anyio.fail_after(5):
        await anyio.to_thread.run_sync(filled.wait)
        assert room.held_bytes == 10
        assert await everything(take) == b"x" * 10 + b"y" * 10
        await engine.ends()
    assert room.held_bytes == 0


async def test_a_take_abandoned_while_the_engine_waits_for_room_frees_the_engine() -> None:
    room = Room(10)
    take = Take(room)
    filled = threading.Event()

    def speak() -> None:
        take.put(b"x" * 10)
        filled.set()
        take.put(b"y")

    engine = EngineThread(speak)
    with anyio.fail_after(5):
        await anyio.to_thread.run_sync(filled.wait)
        take.abandon()
        await engine.ends()
    assert isinstance(engine.outcome, Abandoned)
    assert room.held_bytes == 0


async def test_one_take_s_room_is_freed_for_another() -> None:
    room = Room(10)
    held, waiting = Take(room), Take(room)
    held.put(b"x" * 10)
    engine = EngineThread(lambda: waiting.put(b"y"))
    held.abandon()
    with anyio.fail_after(5):
        await engine.ends()
    assert engine.outcome is None
    assert room.held_bytes == 1


async def test_a_take_abandoned_while_another_fills_the_room_frees_the_engine() -> None:
    room = Room(10)
    full, waiting = Take(room), Take(room)
    full.put(b"x" * 10)
    is_waiting = threading.Event()

    def speak() -> None:
        is_waiting.set()
        waiting.put(b"y")

    engine = EngineThread(speak)
    with anyio.fail_after(5):
        await anyio.to_thread.run_sync(is_waiting.wait)
        waiting.abandon()
        await engine.ends()
    assert isinstance(engine.outcome, Abandoned)


async def test_a_piece_put_while_the_listener_leaves_is_given_back_too() -> None:
    room = Room(ROOMY)
    take = Take(room)
    # Past the check and before the piece is in: the engine's thread may stand anywhere.
    is_inside, may_go_on = threading.Event(), threading.Event()
    count = room.take

    def count_slowly(size: int) -> None:
        is_inside.set()
        assert may_go_on.wait(5)
        count(size)

    room.take = count_slowly
    engine = EngineThread(lambda: take.put(b"late"))
    with anyio.fail_after(5):
        await anyio.to_thread.run_sync(is_inside.wait)
        take.abandon()
        may_go_on.set()
        await engine.ends()
        await loop_turn()
    assert room.held_bytes == 0


async def test_abandoning_twice_counts_once() -> None:
    room = Room(ROOMY)
    take = Take(room)
    take.put(b"some")
    take.abandon()
    take.abandon()
    assert take.is_abandoned
    assert room.held_bytes == 0


async def test_nothing_is_missed_or_doubled_however_the_threads_are_timed() -> None:
    room = Room(5_000)  # small, so that the engines wait often
    sent = [Random(seed).randbytes(20_000) for seed in range(8)]
    takes = [Take(room) for _ in sent]

    def speak(take: Take, audio: bytes, seed: int) -> None:
        random, at = Random(seed), 0
        while at < len(audio):
            size = random.randrange(1, 400)
            take.put(audio[at : at + size])
            at += size
        take.end()

    received: dict[int, bytes] = {}

    async def listen(number: int) -> None:
        received[number] = await everything(takes[number])

    engines = [
        EngineThread(lambda take=take, audio=audio, seed=seed: speak(take, audio, seed))
        for seed, (take, audio) in enumerate(zip(takes, sent, strict=True))
    ]
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for number in range(len(sent)):
                group.start_soon(listen, number)
        for engine in engines:
            await engine.ends()
    assert [received[number] for number in range(len(sent))] == sent
    assert room.held_bytes == 0


async def test_no_room_is_lost_by_listeners_who_leave_at_any_moment() -> None:
    room = Room(2_000)

    def speak(take: Take) -> None:
        try:
            for _ in range(500):
                take.put(b"x" * 100)
        except Abandoned:
            pass
        take.end()

    async def listen(take: Take, pieces: int) -> None:
        async for _ in take.pieces():
            pieces -= 1
            if pieces < 0:
                break
        take.abandon()

    with anyio.fail_after(30):
        for seed in range(30):
            take = Take(room)
            engine = EngineThread(lambda take=take: speak(take))
            await listen(take, Random(seed).randrange(40))
            await engine.ends()
        await loop_turn()
    assert room.held_bytes == 0


def test_an_engine_that_outlives_the_loop_stops_at_its_next_piece() -> None:
    async def make() -> Take:
        return Take(Room(ROOMY))

    take = anyio.run(make)
    take.put(b"nobody reads this")
    with pytest.raises(Abandoned):
        take.put(b"nor this")
    take.end()
