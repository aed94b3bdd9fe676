"""Where an engine works: its model, its threads, and what it is asked to do there."""

import asyncio
import contextvars
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeVar, cast

from rhapsode_contract import RhapsodeError

from rhapsode_worker.engine import Engine
from rhapsode_worker.engine_threads import EngineThreads, Job
from rhapsode_worker.failures import DeviceLost, as_engine_error, as_speak_error
from rhapsode_worker.home_process import HomeProcess
from rhapsode_worker.memory import used_bytes_of
from rhapsode_worker.model import Model
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.parts import parts_of
from rhapsode_worker.requests import DialogueRequest, SpeakRequest
from rhapsode_worker.take import Abandoned, Room, Take

logger = logging.getLogger(__name__)

T = TypeVar("T")

ROOM_BYTES: Final = 64 * 1024 * 1024
"""Audio that may wait for slow readers before the engine waits for them."""


class Studio:
    """Runs one engine: loads and unloads its model and records its takes, each in its turn."""

    def __init__(self, engine: Engine, device_lost: Callable[[], None] = lambda: None) -> None:
        """Args:
        engine: The adapter.
        device_lost: Called, from any thread, once the engine's device is of no more use.
        """
        self._engine = engine
        self._device_lost = device_lost
        self._home = HomeProcess()
        self._variants = engine.variants()
        self._threads = EngineThreads(engine.concurrency, engine.queue_limit)
        self.model = Model(engine, used_bytes_of(engine.device))
        """Read its state freely; it changes only here."""
        self.room = Room(ROOM_BYTES)
        """What is held for slow readers."""

    @property
    def waiting(self) -> int:
        """How many utterances and loads wait for their turn."""
        return self._threads.waiting

    def native_format(self, variant: str) -> NativeFormat:
        """Returns the samples that a variant makes."""
        return self._variants[variant].native_format or self._engine.native_format

    async def load(self, variant: str, look: Callable[[], T]) -> T:
        """Makes `variant` resident in its turn, and returns what `look` sees of it.

        Left before its turn has come, it is withdrawn; left later, it goes on to its end, as a
        model cannot be stopped while it loads.

        Args:
            variant: What is to be resident.
            look: Called on the engine's thread, before anything else can change what is resident.

        Raises:
            Overloaded: The line is full.
            RhapsodeError: It did not load.
        """

        def load() -> T:
            self.model.ensure(variant)
            return look()

        return await self._alone(load)

    async def unload(self, look: Callable[[], T]) -> T:
        """Unloads once every utterance before it has ended; else as `load`.

        Raises:
            Overloaded: The line is full.
            RhapsodeError: The adapter failed.
        """

        def unload() -> T:
            self.model.unload()
            return look()

        return await self._alone(unload)

    def record(self, request: SpeakRequest | DialogueRequest) -> "Recording":
        """Puts an utterance in line and returns its take at once.

        Raises:
            Overloaded: The line is full.
        """
        take = Take(self.room)

        def run() -> None:
            failure = self._failure_of(request, take)
            take.end(failure)
            self._look_at(failure)

        # Beside others only where the variant is resident already: a load needs all threads.
        context = contextvars.copy_context()  # the request's id, for what the adapter logs
        job = Job(
            lambda: context.run(run), needs_all=lambda: self.model.resident != request.variant
        )
        self._threads.join_line(job)
        return Recording(take, lambda: self._threads.withdraw(job))

    def _failure_of(
        self, request: SpeakRequest | DialogueRequest, take: Take
    ) -> RhapsodeError | None:
        """Speaks, on an engine thread; returns what went wrong, if anything did."""
        if take.is_abandoned:
            return None
        try:
            self.model.ensure(request.variant)
            self._threads.share()
            with self._home.kept():
                self._perform(replace(request, is_abandoned=lambda: take.is_abandoned), take)
        except Abandoned:
            logger.info("stopped: the listener left")
        except RhapsodeError as failure:
            return as_speak_error(failure)
        except BaseException as error:  # as in Model: here SystemExit is a failure like any other
            logger.exception("speaking failed")
            return as_speak_error(error)
        return None

    def _perform(self, request: SpeakRequest | DialogueRequest, take: Take) -> None:
        """Speaks a conversation in one, or a text segment by segment: each may be on its way
        while the next is made.
        """
        native = self.native_format(request.variant)
        if isinstance(request, DialogueRequest):
            self._record(self._engine.dialogue(request), take, native)
            return
        variant = self._variants[request.variant]
        for part in parts_of(request, variant):
            self._record(self._engine.speak(part.request), take, native)
            take.put(native.silence(part.silence_ms))

    def _record(self, performance: Iterator[bytes], take: Take, native: NativeFormat) -> None:
        pieces = iter(performance)
        rest = b""  # less than a frame: let through at the end, it would make noise of what follows
        try:
            for pcm in pieces:
                self._home.end_child()
                came = rest + _checked(pcm) if rest else _checked(pcm)
                whole = len(came) - len(came) % native.bytes_per_frame
                rest = came[whole:]
                take.put(came[:whole])
            if rest:
                logger.warning("the engine's audio ends within a frame; cut %d bytes", len(rest))
        finally:
            # Closed here, on the thread it runs on, and not whenever it is collected.
            close = getattr(pieces, "close", None)
            if close is not None:
                close()

    def _look_at(self, failure: RhapsodeError | None) -> None:
        if isinstance(failure, DeviceLost):
            self._device_lost()

    async def _alone(self, action: Callable[[], T]) -> T:
        """Runs `action` on an engine thread with nothing beside it, unless nobody waits for it any
        more when its turn comes.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T | RhapsodeError] = loop.create_future()

        def tell(outcome: T | RhapsodeError) -> None:
            if not done.done():  # whoever asked may have left
                done.set_result(outcome)

        def run() -> None:
            outcome = self._outcome_of(action)
            with suppress(RuntimeError):  # the loop is closed: the worker has left meanwhile
                loop.call_soon_threadsafe(tell, outcome)

        context = contextvars.copy_context()
        job = Job(lambda: context.run(run), needs_all=lambda: True)
        self._threads.join_line(job)
        try:
            outcome = await done
        finally:
            self._threads.withdraw(job)  # of one whose turn has come nothing is left in line
        if isinstance(outcome, RhapsodeError):
            raise outcome
        return outcome

    def _outcome_of(self, action: Callable[[], T]) -> T | RhapsodeError:
        try:
            return action()
        except RhapsodeError as error:
            failure = error
        except Exception as error:
            logger.exception("the engine failed")
            failure = as_engine_error(error, "the engine failed")
        self._look_at(failure)
        return failure


def _checked(pcm: object) -> bytes:
    """Returns a piece of audio as bytes of its own, whatever buffer the adapter keeps using.

    Raises:
        TypeError: It is something else, an array of numbers for example.
    """
    if not isinstance(pcm, bytes | bytearray | memoryview):
        raise TypeError(f"speak() gave {type(pcm).__name__}, not bytes; see Engine.pcm_of()")
    return bytes(cast("bytes", pcm))


class Recording:
    """A take that is waiting for its turn, being made, or whole."""

    def __init__(self, take: Take, withdraw: Callable[[], bool]) -> None:
        self.take = take
        self._withdraw = withdraw

    def abandon(self) -> None:
        """Ends it as soon as the engine can be stopped; the rest of it is never made."""
        self.take.abandon()
        self._withdraw()
