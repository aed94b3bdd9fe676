"""The one place on the card, the leases on it, and the line before it."""

import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import takewhile
from math import inf

import anyio
import anyio.abc
from rhapsode_contract import ModelUnavailable

from rhapsode.residency.plan import Evict, Grant, Place, Wait, Want, plan

logger = logging.getLogger(__name__)


class _Ticket:
    """A request in line."""

    def __init__(self, want: Want, deadline: float) -> None:
        self.want = want
        self.deadline = deadline
        self.is_granted = False
        self.granted: anyio.Event | None = None
        """Of one that has to wait; most are granted at once."""
        self.waiting: anyio.CancelScope | None = None

    def grant(self) -> None:
        """Gives the request its lease."""
        self.is_granted = True
        if self.granted is not None:
            self.granted.set()

    def stop_the_clock(self) -> None:
        """Lets the request wait without a deadline."""
        self.deadline = inf
        if self.waiting is not None:
            self.waiting.deadline = inf

    async def wait(self) -> None:
        """Returns when the lease is given or the deadline has passed."""
        self.granted = anyio.Event()
        with anyio.CancelScope(deadline=self.deadline) as self.waiting:
            await self.granted.wait()


class Slot:
    """Owner of the place. A lease is a request in flight; while there is one nothing is evicted.

    The worker that held the place before is ended and reaped before the next lease is given, so
    that its memory is back before the next load.
    """

    def __init__(
        self,
        *,
        end: Callable[[str], Awaitable[None]],
        wait_seconds: Callable[[], float],
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """Begins with an empty place.

        Args:
            end: Ends an engine's process and returns once it is reaped.
            wait_seconds: How long a request may wait for others to finish speaking; asked for
                each request.
            tasks: Where evictions run: the request that caused one may leave meanwhile.
        """
        self._end = end
        self._wait_seconds = wait_seconds
        self._tasks = tasks
        self._line: deque[_Ticket] = deque()
        self._place = Place(holds=None, leases=0)

    @property
    def waiting(self) -> int:
        """Requests in line."""
        return len(self._line)

    @property
    def blocked_by(self) -> str | None:
        """The engine that the line waits for."""
        return self._place.holds.engine if self._line and self._place.holds else None

    @asynccontextmanager
    async def lease(self, engine: str, variant: str) -> AsyncGenerator[None]:
        """Holds the place for a model for the length of the block.

        Raises:
            ModelUnavailable: Others were still speaking when the wait was over.
        """
        deadline = anyio.current_time() + self._wait_seconds()
        ticket = _Ticket(Want(engine, variant), deadline)
        self._line.append(ticket)
        self._settle()
        try:
            if not ticket.is_granted:
                await self._wait_for(ticket)
            yield
        finally:
            if ticket.is_granted:
                self._hold(self._place.holds, self._place.leases - 1)
            else:
                self._line.remove(ticket)
            self._settle()

    async def _wait_for(self, ticket: _Ticket) -> None:
        await ticket.wait()
        if not ticket.is_granted:
            raise ModelUnavailable(
                f"wait for room: {ticket.want.engine!r} had to wait for {self.blocked_by!r} to"
                f" finish speaking, longer than the {self._wait_seconds():g} s of"
                " residency.evictionWaitSeconds"
            )

    def _settle(self) -> None:
        """Does all that can be done now. Never waits, so nothing changes between check and act."""
        while True:
            match plan(self._place, self._line[0].want if self._line else None):
                case Grant():
                    ticket = self._line.popleft()
                    self._hold(ticket.want, self._place.leases + 1)
                    ticket.grant()
                case Evict(engine):
                    self._place = Place(self._place.holds, 0, is_being_emptied=True)
                    self._stop_the_clock()
                    self._tasks.start_soon(self._empty, engine)
                case Wait():
                    return

    def _stop_the_clock(self) -> None:
        """Speaking has ended; the wait for the old process is bounded by its own grace."""
        first = self._line[0].want
        for ticket in takewhile(lambda ticket: ticket.want == first, self._line):
            ticket.stop_the_clock()

    async def _empty(self, engine: str) -> None:
        logger.info("evicted", extra={"engine": engine})
        await self._end(engine)
        self._hold(None, 0)
        self._settle()

    def _hold(self, holds: Want | None, leases: int) -> None:
        self._place = Place(holds, leases)
