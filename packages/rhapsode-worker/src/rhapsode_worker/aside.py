"""Calls of the adapter beside its engine threads: what may block, and needs no model."""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio
import anyio.to_thread
from rhapsode_contract import RhapsodeError

from rhapsode_worker.home_process import HomeProcess

logger = logging.getLogger(__name__)

T = TypeVar("T")

Mapping = Callable[[BaseException], RhapsodeError]
"""Returns what a caller hears of an exception."""


class Aside:
    """A number of places for calls of one kind, each on a thread of its own.

    A call whose caller leaves is left behind, not waited for, and keeps its place until it ends:
    an adapter that hangs costs as many threads as there are places, and holds up no other kind.
    """

    def __init__(self, places: int) -> None:
        self._places = anyio.CapacityLimiter(places)

    @property
    def is_full(self) -> bool:
        """Whether the next call would have to wait."""
        return self._places.available_tokens < 1

    async def ask(self, call: Callable[[], T], as_failure: Mapping) -> T:
        """Returns what the adapter answers, once there is a place.

        Raises:
            RhapsodeError: What `as_failure` makes of an exception.
        """
        turn = _Turn(self._places)
        await self._places.acquire_on_behalf_of(turn)
        try:
            outcome = await anyio.to_thread.run_sync(
                lambda: turn.taken(lambda: _outcome_of(call, as_failure)),
                abandon_on_cancel=True,
                limiter=anyio.CapacityLimiter(1),  # the places are counted here
            )
        finally:
            turn.give_up()
        if isinstance(outcome, RhapsodeError):
            raise outcome
        return outcome


class _Turn:
    """One place, given back by the thread that takes it, or by its caller if none has."""

    def __init__(self, places: anyio.CapacityLimiter) -> None:
        self._places = places
        self._loop = asyncio.get_running_loop()
        self._claim = threading.Lock()  # for the first who comes; never released

    def taken(self, call: Callable[[], T]) -> T:
        """Called on the thread: returns what `call` does; the place is free after it."""
        if not self._claim.acquire(blocking=False):
            raise RuntimeError("the caller left before the thread began; nobody hears this")
        try:
            return call()
        finally:
            with suppress(RuntimeError):  # the loop is closed: the worker has left meanwhile
                self._loop.call_soon_threadsafe(self._free)

    def give_up(self) -> None:
        """Called by the one who asked, at the end in any case."""
        if self._claim.acquire(blocking=False):
            self._free()

    def _free(self) -> None:
        self._places.release_on_behalf_of(self)


async def change_aside(
    call: Callable[[], T], as_failure: Mapping, *, limiter: anyio.CapacityLimiter
) -> T:
    """Returns what the adapter answers to a call that changes something: it is always waited for
    to its end.

    Args:
        call: What changes.
        as_failure: As for `Aside.ask`.
        limiter: How many may change at once.

    Raises:
        RhapsodeError: What `as_failure` makes of an exception.
    """
    outcome = await anyio.to_thread.run_sync(_outcome_of, call, as_failure, limiter=limiter)
    if isinstance(outcome, RhapsodeError):
        raise outcome
    return outcome


def _outcome_of(call: Callable[[], T], as_failure: Mapping) -> T | RhapsodeError:
    try:
        with HomeProcess().kept():
            return call()
    # As in Model: SystemExit of a library, let through, would end the event loop.
    except BaseException as error:
        if not isinstance(error, RhapsodeError):
            logger.exception("the adapter failed")
        return as_failure(error)
