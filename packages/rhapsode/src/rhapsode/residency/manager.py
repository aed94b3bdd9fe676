"""Which models are on the card: leases, the line for them, and the end of those that must go."""

import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from math import inf

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

from rhapsode.residency.alarm import Alarm
from rhapsode.residency.held import Held, Reason
from rhapsode.residency.line import Line, Ticket
from rhapsode.residency.models import Mode, Models
from rhapsode.residency.plan import (
    Evict,
    Grant,
    Refuse,
    Step,
    Wait,
    Want,
    plan,
)
from rhapsode.residency.shutter import Shutter
from rhapsode.residency.visits import Visits
from rhapsode.settings.model import ResidencySettings

logger = logging.getLogger(__name__)


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
        self._stranded: dict[str, Held] = {}
        """Engines whose process is up without a model since a load failed: what they had."""
        self._shutter = Shutter(
            is_speaking=self._is_speaking,
            wait_seconds=lambda: self._settings().eviction_wait_seconds,
            opened=self._settle,
        )
        self._visits = Visits()
        self._alarm = Alarm(self._expire)

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
        is_open = not len(self._line) and engine not in self._shutter.engines
        if held is not None and is_open and held.is_shared_with(variant):
            held.take(variant, keep_alive_seconds)
        else:
            await self._stand_in_line(Want(engine, variant), keep_alive_seconds)
        try:
            yield
        finally:
            self._release(engine)
            self._settle()

    @contextmanager
    def visit(self, engine: str) -> Generator[None]:
        """Puts off the expiry of an engine's process for the length of the block.

        For what takes no place on the card, and so keeps none from others: nobody who needs one
        waits for it (§§ 3, 7), nor does whoever frees the engine.

        Raises:
            CutShort: The process had to go.
        """
        try:
            with self._visits.visit(engine):
                yield
        finally:
            self._set_alarm()

    async def free(self, engine: str, mode: Mode) -> None:
        """Gives an engine's memory back now. Nothing happens where it holds none.

        Raises:
            Conflict: It is speaking.
            RhapsodeError: It could not be told.
        """
        while (held := self._held.get(engine)) is not None and held.reason is not None:
            await held.settled.wait()
            if mode == "unload" or not held.keeps_process:
                _check_heard(held)
                return  # somebody else's wish was this one's too
        if held is None and mode == "unload":
            return
        if held is None:
            held = self._emptied(engine)
        elif held.leases:
            raise Conflict(
                f"engine: {engine!r} is speaking; its model can be freed once it has finished"
            )
        self._let_go(held, "operator", mode)
        await held.settled.wait()
        _check_heard(held)

    def shut(self, engine: str, wait_seconds: float) -> AbstractAsyncContextManager[None]:
        """Keeps everybody off an engine for the length of the block: who wants it waits in line.

        Args:
            engine: Which, whether it has a place or not.
            wait_seconds: How long it may go on speaking; `Shutter.shut` has the rest.

        Raises:
            Conflict: It still spoke then, or somebody else shuts it.
        """
        return self._shutter.shut(engine, wait_seconds)

    def dismiss(self, engine: str, refusal: Callable[[], RhapsodeError]) -> None:
        """Sends everybody away who waits for an engine: it is here no longer."""
        for ticket in [one for one in self._line if one.want.engine == engine]:
            self._line.leave(ticket)
            ticket.refuse(refusal())
        self._settle()

    def forget(self, engine: str) -> None:
        """Gives up an engine's place, whatever may be there: it is here no longer, and could not be
        told to end.
        """
        self._stranded.pop(engine, None)
        if self._held.pop(engine, None) is not None:
            self._settle()

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
        held.is_deaf = False
        if held.leases or held.reason is not None:
            return
        held.variant = variant
        held.note_use()
        self._alarm.set(self._deadline(held))
        self._settle()

    def close(self) -> None:
        """Lets nothing expire any more."""
        self._alarm.close()

    def note_settings(self) -> None:
        """Applies settings that have changed: every deadline moves, nothing is evicted by it."""
        for ticket in self._line:
            ticket.wait_until(self._line_deadline(ticket.came_at))
        self._set_alarm()
        self._settle()

    def report(self) -> ResidencyDetail:
        """Returns what is on the card, least recently used first. Asks nobody."""
        shown = [held for held in self._held.values() if not held.is_empty]
        models = [
            held.report(
                self._keep_alive(held),
                self._models.size_bytes(held.engine),
                is_lasting=self._deadline(held) == inf,
            )
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
        step = self._plan()
        return Residency(
            resident=sum(not held.is_empty for held in self._held.values()),
            max=most,
            waiting=len(self._line),
            blocked_by=step.blocked_by if isinstance(step, Wait) else None,
        )

    # Leases.

    async def _stand_in_line(self, want: Want, keep_alive_seconds: int | None) -> None:
        """Returns with a lease.

        Raises:
            ModelUnavailable: Others were still speaking when the wait was over, or could not be
                told to go.
        """
        came_at = anyio.current_time()
        ticket = Ticket(want, keep_alive_seconds, came_at, self._line_deadline(came_at))
        self._line.join(ticket)
        self._settle()
        if ticket.is_granted:
            return
        try:
            if ticket.refusal is None:
                await ticket.wait()
            if not ticket.is_granted:
                raise ticket.refusal or self._waited_too_long(want)
        except BaseException:
            if ticket.is_granted:  # in the moment in which its client left
                self._release(want.engine)
            elif ticket.refusal is None:
                self._line.leave(ticket)
            self._settle()
            raise

    def _line_deadline(self, came_at: float) -> float:
        return came_at + self._settings().eviction_wait_seconds

    def _is_speaking(self, engine: str) -> bool:
        held = self._held.get(engine)
        return held is not None and held.leases > 0

    def _waited_too_long(self, want: Want) -> ModelUnavailable:
        settings = self._settings()
        blocked_by = self.summary().blocked_by
        if want.engine in self._shutter.engines:
            awaited = "for a change of it, which waits for it to finish speaking"
        elif blocked_by == want.engine:
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
        self._shutter.note_silence(engine)
        if self._models.is_loaded(engine):
            self._alarm.set(self._deadline(held))
        else:
            self._drop(held)

    def _drop(self, held: Held) -> None:
        """Frees the place of a model that is gone: its load failed, or its process ended. One that
        may be there still keeps it until that is known.
        """
        if self._models.is_unheard(held.engine):
            held.is_deaf = True
            return
        del self._held[held.engine]
        if self._models.is_stranded(held.engine):
            held.note_use()
            self._stranded[held.engine] = held
            self._alarm.set(self._deadline(held))

    def _settle(self) -> None:
        """Does all that can be done now."""
        while len(self._line):
            match self._plan():
                case Grant(index):
                    want = self._line.wants[index]
                    if want.engine in self._held or not self._must_clear_for(want.engine):
                        self._grant(self._line.take(index))
                case Evict(engine):
                    self._let_go(self._held[engine], "room", "terminate")
                case Refuse(index, engine):
                    self._line.take(index).refuse(_no_room(self._held[engine]))
                case Wait(assured=assured):
                    self._line.assure(assured)
                    return

    def _plan(self) -> Step | Wait:
        places = [held.place() for held in self._held.values()]
        most = self._settings().max_resident_models
        return plan(places, self._line.wants, most, self._shutter.engines, self._clearing())

    def _grant(self, ticket: Ticket) -> None:
        want = ticket.want
        if want.engine not in self._held:
            self._stranded.pop(want.engine, None)
            self._held[want.engine] = Held(want.engine, want.variant)
        self._held[want.engine].take(want.variant, ticket.keep_alive_seconds)
        ticket.grant()

    def _must_clear_for(self, engine: str) -> bool:
        """Whether a new model has to wait for the end of processes that have failed to load one:
        the card may be full of what they left. Sees to their end. A process of its own may stay.
        """
        for other in list(self._stranded):
            if other != engine:
                self._end_stranded(other, "room")
        return self._clearing() is not None

    def _clearing(self) -> str | None:
        """Returns an engine whose process is on its way out and may have left something."""
        return next((held.engine for held in self._held.values() if held.may_have_left), None)

    # Ends.

    def _let_go(self, held: Held, reason: Reason, mode: Mode) -> None:
        held.let_go(reason, keeps_process=mode == "unload")
        if mode == "terminate":
            self._visits.cut(held.engine)
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
        except anyio.get_cancelled_exc_class():
            # The server goes down and takes every worker along, and who waits for this one is not
            # to stay behind.
            held.settled.set()
            raise
        is_deaf = self._models.is_unheard(held.engine)
        is_there = is_deaf or self._models.is_loaded(held.engine)
        if held.failure is not None and is_there and not held.is_empty:
            held.stay(is_deaf=is_deaf)
            self._alarm.set(self._deadline(held))
        else:
            del self._held[held.engine]
            held.settled.set()
        self._settle()

    # Keep-alive.

    def _keep_alive(self, held: Held) -> int:
        """Returns the keep-alive in force: the request's, else the engine's, else the server's."""
        if held.keep_alive_seconds is not None:
            return held.keep_alive_seconds
        own = self._keep_alive_of(held.engine)
        return own if own is not None else self._settings().keep_alive_seconds

    def _set_alarm(self) -> None:
        """Sees to it that the next model to expire does."""
        deadlines = map(self._deadline, [*self._held.values(), *self._stranded.values()])
        self._alarm.set(min(deadlines, default=inf))

    def _expire(self) -> None:
        now = anyio.current_time()
        for held in list(self._held.values()):
            if self._deadline(held) <= now:
                self._let_go(held, "keep-alive", "terminate")
        for held in list(self._stranded.values()):
            if self._deadline(held) <= now:
                self._end_stranded(held.engine, "keep-alive")
        self._set_alarm()

    def _end_stranded(self, engine: str, reason: Reason) -> None:
        if engine not in self._held and self._models.is_stranded(engine):
            self._let_go(self._emptied(engine), reason, "terminate")
        else:
            del self._stranded[engine]

    def _emptied(self, engine: str) -> Held:
        """Returns a place for the end of a process without a model."""
        left = self._stranded.pop(engine, None)
        held = Held(engine, "", is_empty=True, may_have_left=left is not None)
        self._held[engine] = held
        return held

    def _deadline(self, held: Held) -> float:
        if held.engine in self._visits:
            return inf
        return held.deadline(self._keep_alive(held))


def _check_heard(held: Held) -> None:
    if held.failure is not None:
        raise type(held.failure)(held.failure.message)


def _no_room(held: Held) -> ModelUnavailable:
    why = held.failure.message if held.failure is not None else "it does not answer"
    return ModelUnavailable(f"wait for room: {held.engine!r} could not be told to go: {why}")
