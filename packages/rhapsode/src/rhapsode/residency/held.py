"""A place on the card that an engine holds."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Literal

import anyio
from rhapsode_contract import ResidentModel, RhapsodeError

from rhapsode.residency.plan import Place

Reason = Literal["room", "keep-alive", "operator"]
"""Why a model goes: another one needs its place, nobody needed it for long, or somebody said so."""


@dataclass(eq=False)
class Held:
    """One engine's place. Times are the loop's clock unless they are dates."""

    engine: str

    variant: str

    leases: int = 0

    taken: float = 0.0
    """When the last lease was taken."""

    used: float = 0.0
    """When it was last in use."""

    used_at_epoch: float = field(default_factory=time.time)
    """The same moment in seconds since 1970."""

    keep_alive_seconds: int | None = None
    """What the request with the last lease says, or None."""

    is_empty: bool = False
    """It holds no model: only the end of a process that is up without one."""

    may_have_left: bool = False
    """That process has failed to load a model, and may hold memory of it until it is gone."""

    reason: Reason | None = None
    """Why it ends; None while it stays."""

    keeps_process: bool = False
    """Whether it ends without its process."""

    failure: RhapsodeError | None = None
    """Why it could not be told to end, when it last was to."""

    is_deaf: bool = False
    """It stays since it could not be told, until its worker is met again or is known to be lost."""

    settled: anyio.Event = field(default_factory=anyio.Event)
    """Set once it has ended, or stays after all."""

    def let_go(self, reason: Reason, *, keeps_process: bool) -> None:
        """Takes note that it is about to end."""
        self.reason = reason
        self.keeps_process = keeps_process
        self.failure = None
        self.is_deaf = False

    def stay(self, *, is_deaf: bool) -> None:
        """Takes note that it could not be told to end."""
        self.reason = None
        self.is_deaf = is_deaf
        self.settled.set()
        self.settled = anyio.Event()

    def take(self, variant: str, keep_alive_seconds: int | None) -> None:
        """Adds a lease. What the last one says of the keep-alive counts, silence too (§ 3)."""
        self.variant = variant
        self.is_deaf = False
        self.leases += 1
        self.keep_alive_seconds = keep_alive_seconds
        self.note_use()
        self.taken = self.used

    def release(self) -> None:
        """Ends a lease."""
        self.leases -= 1
        self.note_use()

    def is_shared_with(self, variant: str) -> bool:
        """Whether a request for this variant gets a lease, where nobody waits in line: what the
        plan says of it, without asking for a plan.
        """
        return self.reason is None and (self.variant == variant or not self.leases)

    def deadline(self, keep_alive_seconds: int) -> float:
        """Returns when it has been idle for so long; never while it is in use, ends already, or
        cannot be told to.
        """
        if self.leases or self.reason is not None or self.is_deaf or keep_alive_seconds < 0:
            return inf
        return self.used + keep_alive_seconds

    def place(self) -> Place:
        """Returns it as the plan sees it."""
        return Place(
            engine=self.engine,
            variant=self.variant,
            leases=self.leases,
            taken=self.taken,
            used=self.used,
            is_ending=self.reason is not None,
            is_empty=self.is_empty,
            is_deaf=self.is_deaf,
        )

    def report(
        self, keep_alive_seconds: int, size_bytes: int | None, *, is_lasting: bool
    ) -> ResidentModel:
        """Returns it as an operator sees it.

        Args:
            keep_alive_seconds: The one in force.
            size_bytes: As the worker measured it, or None.
            is_lasting: Whether it does not expire as things are.
        """
        lasts = timedelta(seconds=keep_alive_seconds)
        used_at = datetime.fromtimestamp(self.used_at_epoch, UTC)
        return ResidentModel(
            engine=self.engine,
            variant=self.variant,
            leases=self.leases,
            last_used_at=used_at,
            expires_at=None if is_lasting else used_at + lasts,
            keep_alive_seconds=keep_alive_seconds,
            size_bytes=size_bytes,
        )

    def note_use(self) -> None:
        """Takes note that it is in use now, or was until now."""
        self.used = asyncio.get_running_loop().time()
        self.used_at_epoch = time.time()
