"""The requests that wait for a model, in the order in which they came."""

from collections.abc import Container, Iterator
from math import inf

import anyio
from rhapsode_contract import RhapsodeError

from rhapsode.residency.plan import Want


class Ticket:
    """A request that has its lease, or waits for it."""

    def __init__(
        self, want: Want, keep_alive_seconds: int | None, came_at: float, deadline: float
    ) -> None:
        """Begins without a lease.

        Args:
            want: The model.
            keep_alive_seconds: What the request says of it, or None.
            came_at: When, on anyio's clock.
            deadline: Until when others may go on speaking.
        """
        self.want = want
        self.keep_alive_seconds = keep_alive_seconds
        self.came_at = came_at
        self.is_granted = False
        self.refusal: RhapsodeError | None = None
        """Why it will never have its lease."""
        self._deadline = deadline
        self._is_assured = False
        self._decided: anyio.Event | None = None
        """Of one that has to wait; most are granted at once."""
        self._waiting: anyio.CancelScope | None = None

    def grant(self) -> None:
        """Gives the request its lease."""
        self.is_granted = True
        self._decide()

    def refuse(self, refusal: RhapsodeError) -> None:
        """Sends the request away."""
        self.refusal = refusal
        self._decide()

    def assure(self, is_assured: bool) -> None:
        """Says whether it waits for nobody to finish speaking, so that no deadline applies: the end
        of an old process is bounded by its own grace.
        """
        if is_assured is not self._is_assured:
            self._is_assured = is_assured
            self._move()

    def wait_until(self, deadline: float) -> None:
        """Says until when others may go on speaking from now on."""
        if deadline != self._deadline:
            self._deadline = deadline
            self._move()

    async def wait(self) -> None:
        """Returns when the lease is given or refused, or the deadline has passed."""
        self._decided = anyio.Event()
        with anyio.CancelScope(deadline=self._deadline_in_force) as self._waiting:
            await self._decided.wait()

    def _move(self) -> None:
        if self._waiting is not None:
            self._waiting.deadline = self._deadline_in_force

    def _decide(self) -> None:
        if self._decided is not None:
            self._decided.set()

    @property
    def _deadline_in_force(self) -> float:
        return inf if self._is_assured else self._deadline


class Line:
    """Who waits."""

    def __init__(self) -> None:
        self._tickets: list[Ticket] = []

    def __len__(self) -> int:
        return len(self._tickets)

    def __iter__(self) -> Iterator[Ticket]:
        return iter(self._tickets)

    @property
    def wants(self) -> list[Want]:
        """What they want, from the head on."""
        return [ticket.want for ticket in self._tickets]

    def join(self, ticket: Ticket) -> None:
        """Stands last."""
        self._tickets.append(ticket)

    def leave(self, ticket: Ticket) -> None:
        """Goes without a lease."""
        self._tickets.remove(ticket)

    def take(self, index: int) -> Ticket:
        """Takes one out, to be given its lease or sent away."""
        return self._tickets.pop(index)

    def assure(self, indices: Container[int]) -> None:
        """Stops the clock of those at `indices`, and lets that of the others run."""
        for index, ticket in enumerate(self._tickets):
            ticket.assure(index in indices)
