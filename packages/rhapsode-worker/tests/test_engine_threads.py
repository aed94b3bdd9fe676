"""The engine's threads: order, limits, and jobs that need the engine for themselves.

No test sleeps. Where a thread has to be seen waiting, the test looks at who has started after
every other thread has said all that it can.
"""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rhapsode_contract import Overloaded
from rhapsode_worker.engine_threads import EngineThreads, Job

SECONDS = 10
"""A bound on every wait, for when a test fails; nothing takes this long."""


class Gate:
    """A job that says when it begins and ends when it is told."""

    def __init__(self, *, alone: bool = False) -> None:
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self.job = Job(self._run, needs_all=lambda: alone)

    def _run(self) -> None:
        self.begun.set()
        assert self.may_end.wait(SECONDS)

    def begins(self) -> None:
        assert self.begun.wait(SECONDS)


class Done:
    """A job that runs to its end, and says so."""

    def __init__(self, *, alone: bool = False) -> None:
        self._over = threading.Event()
        self.job = Job(self._over.set, needs_all=lambda: alone)

    def is_over(self) -> None:
        assert self._over.wait(SECONDS)


@pytest.mark.contract("8.serial.default", "d.queue.order")
def test_one_thread_does_one_job_at_a_time_in_the_order_they_came() -> None:
    threads = EngineThreads(1, 32)
    done: list[int] = []
    first = Gate()
    threads.join_line(first.job)
    first.begins()
    for number in range(20):
        threads.join_line(Job(lambda number=number: done.append(number)))
    last = Done()
    threads.join_line(last.job)
    assert done == []
    first.may_end.set()
    last.is_over()
    assert done == list(range(20))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.contract("8.serial.concurrency")
def test_as_many_jobs_run_at_once_as_there_are_threads_and_no_more(count: int) -> None:
    threads = EngineThreads(count, 32)
    running = [Gate() for _ in range(count)]
    one_more = Gate()
    for gate in [*running, one_more]:
        threads.join_line(gate.job)
    for gate in running:
        gate.begins()
    assert threads.waiting == 1
    assert not one_more.begun.is_set()
    running[-1].may_end.set()
    one_more.begins()
    for gate in [*running, one_more]:
        gate.may_end.set()


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("limit", [0, 1, 32])
@pytest.mark.contract("d.queue.limit")
def test_the_line_takes_its_limit_and_not_one_more(count: int, limit: int) -> None:
    threads = EngineThreads(count, limit)
    running = [Gate() for _ in range(count)]
    for gate in running:  # accepted whether or not a thread has taken the one before
        threads.join_line(gate.job)
    for gate in running:
        gate.begins()
    for _ in range(limit):
        threads.join_line(Done().job)
    with pytest.raises(Overloaded):
        threads.join_line(Done().job)
    assert threads.waiting == limit
    for gate in running:
        gate.may_end.set()


def test_a_job_behind_one_that_waits_for_the_engine_alone_counts_as_waiting() -> None:
    threads = EngineThreads(2, 2)
    speaking, load = Gate(), Gate(alone=True)
    threads.join_line(speaking.job)
    speaking.begins()
    threads.join_line(load.job)
    threads.join_line(Done().job)
    with pytest.raises(Overloaded):  # a thread is idle, but no job can be given to it
        threads.join_line(Done().job)
    speaking.may_end.set()
    load.may_end.set()


def test_an_utterance_that_has_to_load_first_counts_as_waiting_while_it_does() -> None:
    threads = EngineThreads(2, 1)
    speaking, switching = Gate(), Gate(alone=True)
    threads.join_line(speaking.job)
    speaking.begins()
    threads.join_line(switching.job)
    with pytest.raises(Overloaded):
        threads.join_line(Done().job)
    speaking.may_end.set()
    switching.may_end.set()


def test_a_withdrawn_job_leaves_its_place_to_another() -> None:
    threads = EngineThreads(1, 1)
    speaking, gone, last = Gate(), Gate(), Done()
    threads.join_line(speaking.job)
    speaking.begins()
    threads.join_line(gone.job)
    assert threads.withdraw(gone.job)
    assert not threads.withdraw(gone.job)
    threads.join_line(last.job)
    speaking.may_end.set()
    last.is_over()
    assert not gone.begun.is_set()


def test_a_job_whose_turn_has_come_cannot_be_withdrawn() -> None:
    threads = EngineThreads(1, 1)
    gate = Gate()
    threads.join_line(gate.job)
    gate.begins()
    assert not threads.withdraw(gate.job)
    gate.may_end.set()


def test_withdrawing_the_head_of_the_line_lets_those_behind_it_start() -> None:
    threads = EngineThreads(2, 32)
    speaking, behind = Gate(), Done()
    was_asked = threading.Semaphore(0)

    def needs_all() -> bool:
        if threading.current_thread() is not threading.main_thread():
            was_asked.release()
        return True

    load = Job(lambda: None, needs_all=needs_all)
    threads.join_line(speaking.job)
    speaking.begins()
    for job in (load, behind.job):  # the idle thread has looked, in vain, after each of them
        threads.join_line(job)
        assert was_asked.acquire(timeout=SECONDS)
    assert threads.withdraw(load)
    behind.is_over()
    speaking.may_end.set()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_job_that_needs_all_waits_for_the_running_ones_and_holds_up_the_next(
    count: int,
) -> None:
    threads = EngineThreads(count, 32)
    before = [Gate() for _ in range(count)]
    alone, behind = Gate(alone=True), [Gate() for _ in range(count)]
    for gate in before:
        threads.join_line(gate.job)
    for gate in before:
        gate.begins()
    threads.join_line(alone.job)
    for gate in behind:
        threads.join_line(gate.job)
    for gate in before:
        assert not alone.begun.is_set()
        gate.may_end.set()
    alone.begins()
    assert not any(gate.begun.is_set() for gate in behind)
    alone.may_end.set()
    for gate in behind:
        gate.begins()  # all of them at once again
    for gate in behind:
        gate.may_end.set()


def test_a_job_that_has_what_it_needed_lets_others_run_beside_it() -> None:
    threads = EngineThreads(2, 32)
    beside = Gate()
    is_shared = threading.Event()

    def load_then_speak() -> None:
        assert not beside.begun.wait(0)
        threads.share()
        beside.begins()
        is_shared.set()

    threads.join_line(Job(load_then_speak, needs_all=lambda: True))
    threads.join_line(beside.job)
    assert is_shared.wait(SECONDS)
    beside.may_end.set()


def test_whether_a_job_needs_all_is_asked_when_its_turn_comes() -> None:
    threads = EngineThreads(2, 32)
    needs_all = True
    speaking = Gate()
    threads.join_line(speaking.job)
    speaking.begins()
    begun = threading.Event()
    threads.join_line(Job(begun.set, needs_all=lambda: needs_all))
    assert not begun.is_set()
    needs_all = False
    threads.join_line(Done().job)  # a thread wakes, and asks again
    assert begun.wait(SECONDS)
    speaking.may_end.set()


@pytest.mark.parametrize("error", [RuntimeError("bug"), SystemExit(3), KeyboardInterrupt()])
def test_a_thread_survives_a_job_that_raises(error: BaseException) -> None:
    threads = EngineThreads(1, 32)

    def fail() -> None:
        raise error

    threads.join_line(Job(fail, needs_all=lambda: True))
    after = Done(alone=True)
    threads.join_line(after.job)
    after.is_over()


class History:
    """What happened to a random lot of jobs, seen from inside of them."""

    def __init__(self, count: int) -> None:
        self.threads = EngineThreads(count, 1000)
        self.started: list[int] = []
        self.most_at_once = 0
        self.was_disturbed = False
        self._lock = threading.Lock()
        self._running: dict[int, bool] = {}

    def job(self, number: int, *, alone: bool) -> Job:
        return Job(lambda: self._run(number, alone=alone), needs_all=lambda: alone)

    def _run(self, number: int, *, alone: bool) -> None:
        with self._lock:
            self.started.append(number)
            self._running[number] = alone
            self.most_at_once = max(self.most_at_once, len(self._running))
            if any(self._running.values()) and len(self._running) > 1:
                self.was_disturbed = True
        threading.Event().wait(0)  # lets other threads in
        with self._lock:
            if alone and len(self._running) > 1:
                self.was_disturbed = True
            del self._running[number]


@given(
    count=st.integers(1, 3),
    steps=st.lists(st.sampled_from(["shared", "alone", "withdraw-last", "withdraw-first"])),
)
@settings(max_examples=60, deadline=None)
def test_any_history_keeps_order_and_limits_and_loses_nothing(count: int, steps: list[str]) -> None:
    history = History(count)
    jobs: list[Job] = []
    withdrawn: set[int] = set()

    def withdraw(number: int) -> None:
        if history.threads.withdraw(jobs[number]):
            withdrawn.add(number)

    acts: dict[str, Callable[[], None]] = {
        "withdraw-last": lambda: withdraw(len(jobs) - 1),
        "withdraw-first": lambda: withdraw(0),
    }
    for step in steps:
        if step in acts:
            if jobs:
                acts[step]()
            continue
        jobs.append(history.job(len(jobs), alone=step == "alone"))
        history.threads.join_line(jobs[-1])
    last = Done(alone=True)
    history.threads.join_line(last.job)
    last.is_over()

    assert sorted([*history.started, *withdrawn]) == list(range(len(jobs)))
    assert history.most_at_once <= count
    assert not history.was_disturbed
    # Two that run at once may say so in either order; one that ran alone parts the others.
    alone = {number for number, job in enumerate(jobs) if job.needs_all()}
    for place, number in enumerate(history.started):
        if count == 1 or number in alone:
            assert all(earlier < number for earlier in history.started[:place])
            assert all(later > number for later in history.started[place + 1 :])
