"""One engine's worker: started on demand, watched, restarted, and the model in it."""

import logging
from collections.abc import Callable
from math import inf

import anyio
import anyio.abc
from rhapsode_contract import (
    Capabilities,
    EngineSummary,
    FetchRequest,
    ForeignError,
    Health,
    Internal,
    LogLine,
    ModelUnavailable,
    RhapsodeError,
)
from rhapsode_http import beside, request_id

from rhapsode.registry import Origin, RemoteUrl, origin_of, removed_engine
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.declaration import Declaration, Label
from rhapsode.workers.installed import is_outdated
from rhapsode.workers.lifecycle import PROCESS, Process, ProcessEvent, advance
from rhapsode.workers.link import End, Link
from rhapsode.workers.local import LocalLink, Surroundings
from rhapsode.workers.outcome import Outcome
from rhapsode.workers.pause import Pause
from rhapsode.workers.remote import RemoteLink
from rhapsode.workers.resident import Resident
from rhapsode.workers.restarts import Reconnects, Rest, Restarts, RestPolicy, pause_seconds
from rhapsode.workers.session import Session
from rhapsode.workers.suspicion import Suspicion

logger = logging.getLogger(__name__)


class Worker:
    """Owner of one engine's worker.

    Nobody looks at its state first and then acts: they say `ensure_up` or `ensure_loaded` and
    wait. Giving up a wait disturbs nobody else, since the work is in tasks of the worker's own.
    """

    def __init__(
        self,
        engine: str,
        entry: EngineEntry,
        surroundings: Surroundings,
        tasks: anyio.abc.TaskGroup,
        gone: Callable[[str], None] = lambda engine: None,
        found: Callable[[str, str], None] = lambda engine, variant: None,
        label: Label | None = None,
    ) -> None:
        """Prepares a worker; starts nothing.

        Args:
            engine: Its id.
            entry: Where it comes from.
            surroundings: What it is started in.
            tasks: Where its life runs; cancelling the group ends its process.
            gone: Called each time its model is gone: its process has ended, or a load has failed.
            found: Called with a variant that is loaded though nobody here has loaded it: a worker
                on another machine lives longer than this core, and than the link to it.
            label: What the catalog says of the engine.
        """
        self.engine = engine
        self._surroundings = surroundings
        self._tasks = tasks
        self._gone = gone
        self._found = found
        self._declare(Declaration.of(entry, label))
        self._next: Declaration | None = None
        self._is_withdrawn = False
        self._fetch_hearers: list[Callable[[int, int | None], None]] = []
        self._pause = Pause(tasks, self._begin_again)
        self._state = Process.DOWN
        self._start = Outcome[Session]()
        self._session: Session | None = None
        self._up_since = inf
        self._ending = anyio.Event()
        self._down = anyio.Event()
        self._down.set()
        self._fault: RhapsodeError | None = None
        self._suspicion = Suspicion(surroundings.patience, tasks, self._end_for)
        load = entry.deadlines.load_seconds or surroundings.load_seconds
        self._resident = Resident(
            engine,
            load,
            surroundings.grace_seconds,
            tasks,
            hung=self._condemn,
            lost=self._note_failed_load,
        )
        self._is_stranded = False
        self._unheard: list[RhapsodeError] = []
        """Ends in a row that it should have come to and could not be told of."""
        self._last_seen: Capabilities | None = None
        self._last_error: str | None = None
        self._crashes = 0

    def _declare(self, declared: Declaration) -> None:
        """Goes by a declaration from the next process on. There is none now."""
        self._declared = declared
        entry = declared.entry
        origin = origin_of(self.engine, entry)
        self._card = self._surroundings.card_of(entry)
        self._is_local = not isinstance(origin, RemoteUrl)
        self._link, self._restarts = self._made_for(origin, entry)

    def _made_for(self, origin: Origin, entry: EngineEntry) -> tuple[Link, RestPolicy]:
        around, pauses = self._surroundings, self._surroundings.patience.pauses_seconds
        if isinstance(origin, RemoteUrl):
            link = RemoteLink(self.engine, origin, around.grace_seconds, around.patience)
            return link, Reconnects(pauses)
        link = LocalLink(self.engine, origin, entry, around, self._hear)
        return link, Restarts(around.max_restarts, around.restart_decay_seconds, pauses)

    def change(self, entry: EngineEntry) -> None:
        """Lets its next process be what `entry` says. The one that is up goes on to its end."""
        self._next = Declaration.of(entry, self._declared.label)
        if self._down.is_set():
            self._take_next()

    def _take_next(self) -> None:
        declared, self._next = self._next, None
        if declared is not None:
            self._unheard = []  # the one that was not told is nobody of ours any more
            self._declare(declared)

    def withdraw(self) -> None:
        """Starts no process any more: this box has the engine no longer."""
        self._is_withdrawn = True
        self._pause.break_off()

    # What others ask.

    @property
    def entry(self) -> EngineEntry:
        """Where it comes from."""
        return self._declared.entry

    @property
    def worker_version(self) -> str | None:
        """The worker SDK in its virtualenv, where that can be said."""
        return self._declared.worker_version

    @property
    def resident_variant(self) -> str | None:
        """The variant whose model is loaded or being loaded."""
        return self._resident.variant

    @property
    def size_bytes(self) -> int | None:
        """What the model takes of its device, where its worker could measure it."""
        return self._resident.size_bytes

    @property
    def is_stranded(self) -> bool:
        """Whether the process is up and has no model, but has failed to load one: what that took
        of the card may come back with the process only (contract § 3).
        """
        return self._is_stranded and self._resident.variant is None

    @property
    def is_unheard(self) -> bool:
        """Whether it was to end, could not be told, and was not met again since: its model may be
        there still.
        """
        return bool(self._unheard) and self._session is None

    @property
    def crashes(self) -> int:
        """Ends that nobody asked for, since this core began."""
        return self._crashes

    def summary(self) -> EngineSummary:
        """Returns what is known without asking anybody."""
        seen, label = self._last_seen, self._declared.label
        self._forgive()
        if seen is not None:
            display_name = seen.engine.display_name
        else:
            display_name = label.display_name if label is not None else self.engine
        return EngineSummary(
            id=self.engine,
            display_name=display_name,
            # The catalog's first: it is what was shown before the install (contract § 4).
            license=label.license if label is not None else seen.license if seen else None,
            process=self._state.value,
            model=self._resident.state.value,
            variant=self._resident.variant,
            last_error=self._last_error,
            restarts=self._restarts.count,
            worker_version=self.worker_version,
            outdated=is_outdated(self.worker_version),
        )

    async def ensure_up(self) -> Session:
        """Returns the running worker, starting one where there is none.

        Raises:
            RhapsodeError: It did not start, has failed too often, or was twice told to end while
                it started.
        """
        was_told = False
        while True:
            if self._suspicion.is_open:
                await self._suspicion.settled()
            elif self._session is not None and self._state is Process.UP:
                return self._session
            elif self._state is Process.DRAINING:
                await self._down.wait()
            elif self._state is Process.STARTING:
                try:
                    return await self._start.result()
                except _ToldToEnd:
                    if was_told:
                        raise
                    was_told = True  # whoever still needs it starts another, and no more than that
            elif self._state is Process.FAILED:
                raise Internal(
                    f"the engine {self.engine!r} has failed and is tried again later; its last"
                    f" error: {self._last_error}"
                )
            elif self._pause.is_to_be_waited_for:
                await self._pause.ended()
            else:
                self._begin()

    async def fetch(self, variant: str, hear: Callable[[int, int | None], None]) -> None:
        """Gets a variant's weights. Starts a process that is down, and loads no model.

        Args:
            variant: Which.
            hear: Called with the bytes that are there and, where it is known, all there will be.

        Raises:
            RhapsodeError: They could not be had; `Unsupported` where the engine fetches nothing.
            ForeignError: It refused with a code that we do not know.
        """
        session = await self.ensure_up()
        self._fetch_hearers.append(hear)
        try:
            body = FetchRequest(variant=variant).model_dump_json().encode()
            async with beside(lambda: self._look_again_and_again(session)):
                await session.ask("POST", "/fetch", body, seconds=inf)
        finally:
            self._fetch_hearers.remove(hear)

    async def ensure_loaded(self, variant: str) -> Session:
        """Returns a running worker in which `variant` is loaded.

        The caller holds a lease, so nobody wants another variant meanwhile.

        Raises:
            RhapsodeError: The process did not start, or the model did not load.
            ForeignError: The worker refused the load with a code that we do not know.
        """
        session = await self.ensure_up()
        while self._resident.is_loading_other_than(variant):
            # Nobody waits for that one any more, and a worker cannot break a load off.
            await self.end()
            session = await self.ensure_up()
        await self._resident.ensure(session, variant)
        return session

    async def unload(self) -> None:
        """Takes the model off the card and keeps the process, unless that hangs, or a load is under
        way that nobody waits for any more.

        Raises:
            RhapsodeError: It is on another machine, and could not be told.
        """
        session = self._session
        if session is None:
            self._check_heard()
            return
        if self._resident.is_loading_other_than(None):
            await self.end()
            return
        ending = self._ending
        try:
            await self._resident.unload(session)
        except (RhapsodeError, ForeignError) as error:
            logger.warning("%s", error.message, extra={"engine": self.engine})
            await session.ended.wait()
            self._check_heard()
            if not self._is_local and not ending.is_set():  # lost, and its model with it
                raise ModelUnavailable(error.message) from None

    async def end(self) -> None:
        """Ends the process and returns once it is reaped and its memory is back. Where there is
        none this clears a fault.

        Raises:
            RhapsodeError: It is on another machine, and could not be told.
        """
        if not self._is_local:
            await self._end_remote()
            return
        self._pause.break_off()
        if self._state is Process.FAILED:
            self._restarts.note_calm()
            self._last_error = None
        card, size = self._card, self._resident.size_bytes
        device = self._resident.device
        used = card.used_bytes(device)
        self._ask_to_end()
        await self._down.wait()
        await card.memory_is_back(device, used, size)

    async def _end_remote(self) -> None:
        if self._state is not Process.DRAINING:
            await self.ensure_up()
            self._ask_to_end()
        await self._down.wait()
        self._check_heard()

    def _check_heard(self) -> None:
        if self._unheard:
            raise ModelUnavailable(self._unheard[-1].message)

    def kill(self) -> None:
        """Ends the process at once, for a core that must not wait."""
        self._link.kill()

    # One life.

    def _begin(self) -> None:
        self._pause.break_off()
        if self._is_withdrawn:
            raise removed_engine(self.engine)
        self._fire(ProcessEvent.START)
        self._start = Outcome[Session]()
        self._ending = anyio.Event()
        self._down = anyio.Event()
        self._tasks.start_soon(self._live)

    async def _live(self) -> None:
        # This task was started by some request, whose id is not that of what happens here.
        request_id.set(None)
        end = End(ModelUnavailable("the server is going down"))
        try:
            end = await self._link.live(self._become_ready, self._ending)
        except anyio.get_cancelled_exc_class():
            self._fire(ProcessEvent.END)
            raise
        except Exception as error:
            # Nobody has thought of this one. Whatever it is, other engines go on speaking.
            logger.exception("its worker broke off", extra={"engine": self.engine})
            what = type(error).__name__
            end = End(Internal(f"the engine's worker broke off: {what}"), is_hopeless=True)
        finally:
            self._close(end)

    def _become_ready(self, session: Session) -> None:
        session.suspect = lambda: self._suspect(session)
        session.condemn = self._condemn
        session.look = lambda: self._note_look(session)
        self._last_seen = session.capabilities
        self._session = session
        self._up_since = anyio.current_time()
        self._fire(ProcessEvent.READY)
        logger.info("ready", extra={"engine": self.engine, "pid": session.process_id})
        current = session.capabilities.current
        if session.health is not None:
            self._note_look(session)(session.health)
        elif current is not None and self._resident.adopt(current.variant):
            self._found(self.engine, current.variant)
        if self._resident.variant is None:
            self._gone(self.engine)  # if it could not be told to end, it has
        self._start.succeed(session)

    def _note_failed_load(self) -> None:
        self._is_stranded = self._is_local
        self._gone(self.engine)

    def _note_look(self, session: Session) -> Callable[[Health], None]:
        """Returns what takes note of an answer to a question that is asked now: of a model that
        came or went behind our back, since others may ask a worker on another machine, or replace
        it.
        """
        asked_at = self._resident.changes

        def note(health: Health) -> None:
            is_idle = session is self._session and not len(session.turns)
            if not is_idle or self._resident.changes != asked_at:
                return
            if health.model == "loaded" and health.variant is not None:
                if self._resident.adopt(health.variant, health):
                    self._found(self.engine, health.variant)
            elif health.model == "unloaded" and self._resident.forget():
                self._gone(self.engine)

        return note

    def _close(self, end: End) -> None:
        """Takes note that the process is gone."""
        was_asked = self._state is Process.DRAINING
        fault, self._fault = self._fault, None
        told = _ToldToEnd(f"the engine {self.engine!r} was told to end meanwhile")
        failure = fault or (told if was_asked else end.failure)
        lived = self._lived()
        self._forgive()
        self._up_since = inf
        session, self._session = self._session, None
        self._fire(ProcessEvent.EXIT)
        self._resident.process_exited(failure)
        self._start.fail(failure)
        if session is not None:
            session.end(failure)
        if fault is not None or not was_asked:
            if self._last_error != failure.message:  # a remote is tried again for ever
                logger.error("%s", failure.message, extra={"engine": self.engine})
            self._last_error = failure.message
        self._unheard = [*self._unheard, end.failure] if end.is_unheard else []
        self._is_stranded = False
        if was_asked and not self._is_local:
            # Whoever runs it starts it again, and it may hold a model then (contract § 2).
            self._take(self._rest_after_asked())
        if not was_asked:
            self._crashes += lived > 0 or (self._is_local and not end.is_starved)
            rest = self._restarts.after_end(
                lived, is_hopeless=end.is_hopeless, is_starved=end.is_starved
            )
            self._take(rest)
        self._take_next()
        self._down.set()
        self._gone(self.engine)

    def _forgive(self) -> None:
        """Forgets earlier ends and errors where the process lives long since (contract § 10)."""
        if self._lived() >= self._surroundings.restart_decay_seconds:
            self._restarts.note_calm()
            self._last_error = None

    def _lived(self) -> float:
        return max(0.0, anyio.current_time() - self._up_since)

    def _ask_to_end(self) -> None:
        self._fire(ProcessEvent.END)
        self._ending.set()

    # Faults.

    async def _look_again_and_again(self, session: Session) -> None:
        """Finds out whether a worker hangs that is asked something without a deadline."""
        while True:
            await anyio.sleep(self._surroundings.patience.fetch_look_seconds)
            self._suspect(session)

    def _suspect(self, session: Session) -> None:
        """Finds out whether a worker that failed a request lives; asked by that request."""
        if session is self._session and not self._ending.is_set():
            self._suspicion.look_at(session)

    def _condemn(self, fault: RhapsodeError) -> None:
        """Ends a process that is of no more use; one on another machine where it answers only, or
        it would hear of it when the network lets it.
        """
        if self._is_local or self._session is None:
            self._end_for(fault)
        else:
            self._suspicion.look_at(self._session, fault)

    def _end_for(self, fault: RhapsodeError) -> None:
        # It counts as asked for (contract § 2).
        if self._state in {Process.STARTING, Process.UP}:
            self._fault = fault
            self._ask_to_end()

    # Between two lives.

    def _rest_after_asked(self) -> Rest:
        """Returns when a worker on another machine is met again, which was told to end, or was not:
        then its model is met again as well, and each time it is let alone for longer.
        """
        pauses = self._surroundings.patience.pauses_seconds
        return Rest(pause_seconds(pauses, len(self._unheard) + 1), may_be_cut_short=True)

    def _take(self, rest: Rest) -> None:
        if rest.is_failure:
            self._fire(ProcessEvent.GIVE_UP)
        if not self._is_withdrawn:
            self._pause.take(rest)

    def _begin_again(self) -> None:
        logger.info("restarting", extra={"engine": self.engine})
        self._begin()

    def _hear(self, line: LogLine) -> None:
        if line.event == "fetch":
            self._resident.note_progress()
            for hear in self._fetch_hearers:
                if line.received is not None:
                    hear(line.received, line.total)

    def _fire(self, event: ProcessEvent) -> None:
        before, self._state = self._state, advance(PROCESS, self._state, event)
        if before is not self._state:
            logger.info(
                "process: %s, %s -> %s",
                event.value,
                before.value,
                self._state.value,
                extra={"engine": self.engine},
            )


class _ToldToEnd(ModelUnavailable):
    """The process went because somebody asked for its end."""
