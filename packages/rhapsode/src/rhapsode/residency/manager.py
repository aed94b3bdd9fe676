"""Which models are on the card: leases, the line for them, and the end of those that must go."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from math import inf
from typing import Literal, Protocol

import anyio
import anyio.abc
from rhapsode_contract import (
    Conflict,
    ModelUnavailable,
    Residency,
    ResidencyDetail,
    RhapsodeError,
)
from rhapsode_http import request_id

from rhapsode.residency.held import Held, Reason
from rhapsode.residency.line import Line, Ticket
from rhapsode.residency.plan import Evict, Grant, Place, Wait, Want, plan
from rhapsode.settings.model import ResidencySettings

logger = logging.getLogger(__name__)

Mode = Literal["terminate", "unload"]
"""How memory is given back: all of it with the process, or most of it and the process stays."""


class Models(Protocol):
    """The models of every engine, which are loaded and go as this one decides."""

    def is_loaded(self, engine: str) -> bool:
        """Whether a model is there, or is being loaded."""
        ...

    def size_bytes(self, engine: str) -> int | None:
        """Returns what the model takes, as its worker measured it."""
        ...

    def is_stranded(self, engine: str) -> bool:
        """Whether its process is up without a model, and has failed to load one: what that took
        of the card may come back with the process only.
        """
        ...

    async def end(self, engine: str) -> None:
        """Ends an engine's process; returns once it is reaped and its memory is back.

        Raises:
            RhapsodeError: It could not be told.
        """
        ...

    async def unload(self, engine: str) -> None:
        """Takes an engine's model off the card, in the process or with it.

        Raises:
            RhapsodeError: It could not be told.
        """
        ...


class ResidencyManager:
    """Owner of the card. A lease is a request in flight; while there is one nothing is evicted.

    Decides by `plan` and never waits while it does, so nothing changes between check and act.
    """

    def __init__(
        self,
        models: Models,
        *,
        settings: Callable[[], ResidencySettings],
        keep_alive_of: Callable[[str], int | None],
        tasks: anyio.abc.TaskGroup,
        observe: Callable[[str, Reason], None] = lambda engine, reason: None,
    ) -> None:
        """Begins with an empty card.

        Args:
            models: What is loaded.
            settings: Read whenever they are needed, so that a change applies at once.
            keep_alive_of: Returns what the settings say of one engine, or None.
            tasks: Where models end: the request that caused one to may leave meanwhile.
            observe: Told of each model that goes.
        """
        self._models = models
        self._settings = settings
        self._keep_alive_of = keep_alive_of
        self._tasks = tasks
        self._observe = observe
        self._line = Line()
        self._held: dict[str, Held] = {}
        self._stranded: dict[str, float] = {}
        """Engines whose process is up without a model since a load failed, and when it ends."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    @asynccontextmanager
    async def lease(
        self, engine: str, variant: str, keep_alive_seconds: int | None = None
    ) -> AsyncGenerator[None]:
        """Holds a place for a model for the length of the block.

        Args:
            engine: Whose model it is.
            variant: Which; loading it is the holder's business.
            keep_alive_seconds: How long it stays afterwards, as the request has it.

        Raises:
            ModelUnavailable: Others were still speaking when the wait was over.
        """
        held = self._held.get(engine)
        if held is not None and not len(self._line) and held.is_shared_with(variant):
            held.take(variant, keep_alive_seconds)
        else:
            await self._stand_in_line(Want(engine, variant), keep_alive_seconds)
        try:
            yield
        finally:
            self._release(engine)
            self._settle()

    async def free(self, engine: str, mode: Mode) -> None:
        """Gives an engine's memory back now. Nothing happens where it holds none.

        Raises:
            Conflict: It is speaking.
            RhapsodeError: It could not be told.
        """
        while (held := self._held.get(engine)) is not None and held.reason is not None:
            await held.gone.wait()
            if mode == "unload" or not held.keeps_process:
                return  # somebody else's wish was this one's too
        if held is None and mode == "unload":
            return
        if held is None:
            held = self._held[engine] = Held(engine, "", is_empty=True)
        elif held.leases:
            raise Conflict(
                f"engine: {engine!r} is speaking; its model can be freed once it has finished"
            )
        self._let_go(held, "operator", mode)
        await held.gone.wait()
        if held.failure is not None:
            raise type(held.failure)(held.failure.message)

    def note_gone(self, engine: str) -> None:
        """Takes note that an engine's model is gone: its process ended, or a load failed."""
        held = self._held.get(engine)
        if held is not None and not held.leases and held.reason is None:
            self._drop(held)
            self._settle()
        elif held is None and not self._models.is_stranded(engine):
            self._stranded.pop(engine, None)

    def note_found(self, engine: str, variant: str) -> None:
        """Takes note of a model that is there though nobody took a lease for it: from now on it
        has a place like any other, and leaves like any other. Whoever waits for it has it.
        """
        held = self._held.setdefault(engine, Held(engine, variant))
        if held.leases or held.reason is not None:
            return
        held.variant = variant
        held.note_use()
        self._wake_at(self._deadline(held))
        self._settle()

    def close(self) -> None:
        """Lets nothing expire any more."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def note_settings(self) -> None:
        """Applies settings that have changed: every deadline moves, nothing is evicted by it."""
        self._set_timer()
        self._settle()

    def report(self) -> ResidencyDetail:
        """Returns what is on the card, least recently used first. Asks nobody."""
        shown = [held for held in self._held.values() if not held.is_empty]
        models = [
            held.report(self._keep_alive(held), self._models.size_bytes(held.engine))
            for held in sorted(shown, key=lambda held: held.used)
        ]
        brief = self.summary()
        return ResidencyDetail(
            resident=brief.resident,
            max=brief.max,
            waiting=brief.waiting,
            blocked_by=brief.blocked_by,
            models=tuple(models),
        )

    def summary(self) -> Residency:
        """Returns how many are on the card and who waits for it. Asks nobody."""
        most = self._settings().max_resident_models
        step = plan(self._places(), self._line.wants, most)
        return Residency(
            resident=sum(not held.is_empty for held in self._held.values()),
            max=most,
            waiting=len(self._line),
            blocked_by=step.blocked_by if isinstance(step, Wait) else self._cleared(),
        )

    # Leases.

    async def _stand_in_line(self, want: Want, keep_alive_seconds: int | None) -> None:
        """Returns with a lease.

        Raises:
            ModelUnavailable: Others were still speaking when the wait was over.
        """
        deadline = anyio.current_time() + self._settings().eviction_wait_seconds
        ticket = Ticket(want, keep_alive_seconds, deadline)
        self._line.join(ticket)
        self._settle()
        if ticket.is_granted:
            return
        try:
            await ticket.wait()
            if not ticket.is_granted:
                raise self._waited_too_long(want)
        except BaseException:
            if ticket.is_granted:  # in the moment in which its client left
                self._release(want.engine)
            else:
                self._line.leave(ticket)
            self._settle()
            raise

    def _waited_too_long(self, want: Want) -> ModelUnavailable:
        settings = self._settings()
        blocked_by = self.summary().blocked_by
        if blocked_by == want.engine:
            awaited = "for another variant of its own to finish speaking"
        elif blocked_by is not None:
            awaited = f"for {blocked_by!r} to finish speaking"
        else:
            awaited = "its turn"
        return ModelUnavailable(
            f"wait for room: {want.engine!r} waited {awaited}, longer than the"
            f" {settings.eviction_wait_seconds:g} s of residency.evictionWaitSeconds"
        )

    def _release(self, engine: str) -> None:
        held = self._held[engine]
        held.release()
        if held.leases:
            return
        if self._models.is_loaded(engine):
            self._wake_at(self._deadline(held))
        else:
            self._drop(held)

    def _drop(self, held: Held) -> None:
        """Frees the place of a model that is gone: its load failed, or its process ended."""
        del self._held[held.engine]
        if self._models.is_stranded(held.engine):
            keep_alive = self._keep_alive(held)
            deadline = anyio.current_time() + keep_alive if keep_alive >= 0 else inf
            self._stranded[held.engine] = deadline
            self._wake_at(deadline)

    def _settle(self) -> None:
        """Does all that can be done now."""
        while len(self._line):
            match plan(self._places(), self._line.wants, self._settings().max_resident_models):
                case Grant(index):
                    if self._must_clear_for(self._line.wants[index]):
                        self._line.assure({index})
                        return
                    self._grant(self._line.take(index))
                case Evict(engine):
                    self._let_go(self._held[engine], "room", "terminate")
                case Wait(assured=assured):
                    self._line.assure(assured)
                    return

    def _grant(self, ticket: Ticket) -> None:
        want = ticket.want
        if want.engine not in self._held:
            self._held[want.engine] = Held(want.engine, want.variant)
        self._held[want.engine].take(want.variant, ticket.keep_alive_seconds)
        ticket.grant()

    def _must_clear_for(self, want: Want) -> bool:
        """Whether a new model has to wait for the end of processes that have failed to load: the
        card may be full of what they left. Sees to their end.
        """
        if want.engine in self._held:
            return False
        self._stranded.pop(want.engine, None)
        for engine in list(self._stranded):
            self._end_stranded(engine, "room")
        return self._cleared() is not None

    def _cleared(self) -> str | None:
        """Returns an engine whose process makes room though it has no model."""
        ending = (held for held in self._held.values() if held.is_empty and held.reason == "room")
        return next((held.engine for held in ending), None)

    def _places(self) -> list[Place]:
        return [held.place() for held in self._held.values()]

    # Ends.

    def _let_go(self, held: Held, reason: Reason, mode: Mode) -> None:
        held.reason = reason
        held.keeps_process = mode == "unload"
        what = "ending, without a model" if held.is_empty else "evicted"
        logger.info(
            "%s: %s, %s", what, reason, mode, extra={"engine": held.engine, "reason": reason}
        )
        if not held.is_empty:
            self._observe(held.engine, reason)
        self._tasks.start_soon(self._end, held, mode)

    async def _end(self, held: Held, mode: Mode) -> None:
        request_id.set(None)
        try:
            if mode == "unload":
                await self._models.unload(held.engine)
            else:
                await self._models.end(held.engine)
        except RhapsodeError as error:
            held.failure = error
            logger.warning("not told: %s", error.message, extra={"engine": held.engine})
        del self._held[held.engine]
        held.gone.set()
        self._settle()

    # Keep-alive.

    def _keep_alive(self, held: Held) -> int:
        """Returns the keep-alive in force: the request's, else the engine's, else the server's."""
        if held.keep_alive_seconds is not None:
            return held.keep_alive_seconds
        own = self._keep_alive_of(held.engine)
        return own if own is not None else self._settings().keep_alive_seconds

    def _set_timer(self) -> None:
        """Sees to it that the next model to expire does."""
        deadlines = [*map(self._deadline, self._held.values()), *self._stranded.values()]
        self._wake_at(min(deadlines, default=inf))

    def _wake_at(self, deadline: float) -> None:
        """Wakes too early rather than too often: a deadline that only moved away leaves the timer
        as it is.
        """
        if deadline == inf or self._is_closed:
            return
        if self._timer is not None:
            if self._timer.when() <= deadline:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(deadline, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now = anyio.current_time()
        for held in list(self._held.values()):
            if self._deadline(held) <= now:
                self._let_go(held, "keep-alive", "terminate")
        for engine, deadline in list(self._stranded.items()):
            if deadline <= now:
                self._end_stranded(engine, "keep-alive")
        self._set_timer()

    def _end_stranded(self, engine: str, reason: Reason) -> None:
        del self._stranded[engine]
        if engine not in self._held and self._models.is_stranded(engine):
            held = self._held[engine] = Held(engine, "", is_empty=True)
            self._let_go(held, reason, "terminate")

    def _deadline(self, held: Held) -> float:
        return held.deadline(self._keep_alive(held))
