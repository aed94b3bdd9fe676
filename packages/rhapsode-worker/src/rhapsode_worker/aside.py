"""Calls of the adapter beside its engine threads: what may block, and needs no model."""

import logging
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread
from rhapsode_contract import RhapsodeError

from rhapsode_worker.home_process import HomeProcess

logger = logging.getLogger(__name__)

T = TypeVar("T")

Mapping = Callable[[BaseException], RhapsodeError]
"""Returns what a caller hears of an exception."""


async def ask_aside(call: Callable[[], T], as_failure: Mapping) -> T:
    """Returns what the adapter answers on a thread of its own.

    The call is left behind, not waited for, where the server is closed meanwhile.

    Raises:
        RhapsodeError: What `as_failure` makes of an exception.
    """
    return await _aside(call, as_failure, may_abandon=True)


async def change_aside(
    call: Callable[[], T], as_failure: Mapping, *, limiter: anyio.CapacityLimiter
) -> T:
    """The same for a call that changes something: it is always waited for to its end.

    Args:
        call: What changes.
        as_failure: As for `ask_aside`.
        limiter: How many may change at once.
    """
    return await _aside(call, as_failure, may_abandon=False, limiter=limiter)


async def _aside(
    call: Callable[[], T],
    as_failure: Mapping,
    *,
    may_abandon: bool,
    limiter: anyio.CapacityLimiter | None = None,
) -> T:
    outcome = await anyio.to_thread.run_sync(
        _outcome_of, call, as_failure, abandon_on_cancel=may_abandon, limiter=limiter
    )
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
