"""Timers, on a clock that the test moves."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest
from rhapsode_http.ahead import Backlog
from rhapsode_http.deadline import Deadline, WriteStall


class Timer:
    """A callback that is due."""

    def __init__(self, due: float, callback: Callable[[], None]) -> None:
        self._due = due
        self.callback = callback
        self.is_cancelled = False

    def when(self) -> float:
        return self._due

    def cancel(self) -> None:
        self.is_cancelled = True


class Clock:
    """As much of a loop as a timer needs."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, due: float, callback: Callable[[], None]) -> Timer:
        self.timers.append(Timer(due, callback))
        return self.timers[-1]

    def move_to(self, moment: float) -> None:
        while ready := [each for each in self.pending if each.when() <= moment]:
            first = min(ready, key=Timer.when)
            self.timers.remove(first)
            self.now = first.when()
            first.callback()
        self.now = moment

    @property
    def pending(self) -> list[Timer]:
        return [each for each in self.timers if not each.is_cancelled]


class Transport:
    """As much of a transport as a stall needs."""

    def __init__(self) -> None:
        self.waiting_bytes = 0

    def get_write_buffer_size(self) -> int:
        return self.waiting_bytes


@pytest.fixture
def clock() -> Clock:
    return Clock()


def deadline_on(clock: Clock, expired: list[float]) -> Deadline:
    loop = cast("asyncio.AbstractEventLoop", clock)
    return Deadline(loop, lambda: expired.append(clock.now))


def test_a_deadline_expires_once_at_its_time(clock: Clock) -> None:
    expired: list[float] = []
    deadline_on(clock, expired).start(5)
    clock.move_to(100)
    assert expired == [5]


def test_a_moved_deadline_expires_at_its_last_time_and_has_one_timer(clock: Clock) -> None:
    expired: list[float] = []
    deadline = deadline_on(clock, expired)
    for moment in range(4):
        clock.move_to(moment)
        deadline.start(5)
        assert len(clock.pending) == 1
    deadline.start(1)
    clock.move_to(3.5)
    assert expired == []
    clock.move_to(100)
    assert expired == [4]


@pytest.mark.parametrize("end", [Deadline.stop, Deadline.close])
def test_a_stopped_deadline_does_not_expire(clock: Clock, end: Callable[[Deadline], None]) -> None:
    expired: list[float] = []
    deadline = deadline_on(clock, expired)
    deadline.start(5)
    end(deadline)
    clock.move_to(100)
    assert expired == []
    assert clock.pending == []


def stall_on(clock: Clock, transport: Transport, stalled: list[float]) -> WriteStall:
    loop = cast("asyncio.AbstractEventLoop", clock)
    writer = cast("asyncio.WriteTransport", transport)
    return WriteStall(loop, writer, 120, lambda: stalled.append(clock.now), Backlog(1))


def test_a_peer_that_takes_nothing_is_stalled_within_its_time_and_a_fourth(clock: Clock) -> None:
    transport, stalled = Transport(), list[float]()
    stall = stall_on(clock, transport, stalled)
    stall.observe()
    transport.waiting_bytes = 1
    stall.observe()
    clock.move_to(119)
    assert stalled == []
    clock.move_to(150)
    assert stalled != []


def test_a_peer_that_takes_a_byte_now_and_then_is_not_stalled(clock: Clock) -> None:
    transport, stalled = Transport(), list[float]()
    stall = stall_on(clock, transport, stalled)
    transport.waiting_bytes = 1000
    stall.observe()
    for moment in range(100, 2000, 100):
        transport.waiting_bytes -= 1
        clock.move_to(moment)
    assert stalled == []


def test_a_peer_is_seen_to_read_although_as_much_is_written_again(clock: Clock) -> None:
    transport, stalled = Transport(), list[float]()
    stall = stall_on(clock, transport, stalled)
    transport.waiting_bytes = 1000
    stall.observe()
    for moment in range(100, 2000, 100):
        clock.move_to(moment)
        transport.waiting_bytes = 500  # the peer reads
        stall.observe()
        transport.waiting_bytes = 1000  # and as much is written
        stall.observe()
    assert stalled == []


def test_writing_more_is_not_taken_for_reading(clock: Clock) -> None:
    transport, stalled = Transport(), list[float]()
    stall = stall_on(clock, transport, stalled)
    for moment in range(0, 200, 10):
        clock.move_to(moment)
        stall.observe()
        transport.waiting_bytes += 1
        stall.observe()
    assert stalled != []


def test_nothing_is_watched_while_nothing_waits(clock: Clock) -> None:
    transport = Transport()
    stall = stall_on(clock, transport, [])
    stall.observe()
    assert clock.pending == []
    transport.waiting_bytes = 1
    stall.observe()
    transport.waiting_bytes = 0
    clock.move_to(100)
    assert clock.pending == []
