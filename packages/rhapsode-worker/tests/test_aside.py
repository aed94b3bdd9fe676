"""Calls beside the engine: their places, and callers who leave."""

import threading

import anyio
import anyio.lowlevel
import pytest
from rhapsode_contract import Internal, RhapsodeError
from rhapsode_worker.aside import Aside

pytestmark = pytest.mark.anyio

SECONDS = 10
"""A bound on every wait; nothing takes this long."""


def as_failure(error: BaseException) -> RhapsodeError:
    return Internal(repr(error))


class Held:
    """A call that goes on until it is told to end."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.begun = 0

    def call(self) -> str:
        self.begun += 1
        assert self.may_end.wait(SECONDS)
        return "done"


async def until_free(aside: Aside) -> None:
    while aside.is_full:
        await anyio.lowlevel.checkpoint()


async def until_begun(held: Held, count: int = 1) -> None:
    while held.begun < count:
        await anyio.lowlevel.checkpoint()


async def test_a_call_is_answered_and_its_failure_is_ours() -> None:
    aside = Aside(1)
    with anyio.fail_after(SECONDS):
        assert await aside.ask(lambda: 3, as_failure) == 3
        with pytest.raises(Internal, match="ZeroDivisionError"):
            await aside.ask(lambda: 1 // 0, as_failure)
        await until_free(aside)


async def test_one_more_than_there_are_places_waits() -> None:
    aside, held = Aside(2), Held()
    answers: list[str] = []

    async def ask() -> None:
        answers.append(await aside.ask(held.call, as_failure))

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ask)
            await until_begun(held, 2)
            assert aside.is_full
            held.may_end.set()
    assert (answers, held.begun) == (["done"] * 3, 3)


async def test_a_call_that_is_left_behind_keeps_its_place_until_it_ends() -> None:
    aside, held = Aside(1), Held()
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(aside.ask, held.call, as_failure)
            await until_begun(held)
            group.cancel_scope.cancel()
        assert aside.is_full
        held.may_end.set()
        await until_free(aside)


@pytest.mark.parametrize("turns", range(8))
async def test_whenever_a_caller_leaves_the_place_is_free_in_the_end(turns: int) -> None:
    """Before it has a place, before the thread begins, meanwhile, and after it."""
    aside = Aside(1)
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(aside.ask, lambda: None, as_failure)
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        await until_free(aside)
        assert await aside.ask(lambda: "next", as_failure) == "next"
