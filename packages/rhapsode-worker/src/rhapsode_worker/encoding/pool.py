"""The encoder children of a worker: kept warm, lent to one response each, replaced when spent."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final, Self

import anyio
from rhapsode_contract import FORMATS, Unsupported

from rhapsode_worker.encoding.encoder import Encoder, EncoderCrashed, InPlaceEncoder
from rhapsode_worker.encoding.formats import CODEC_FORMATS
from rhapsode_worker.encoding.process import ChildEncoder, EncoderProcess, spawn
from rhapsode_worker.native_format import NativeFormat

logger = logging.getLogger(__name__)

_MAX_IDLE: Final = 2
_START_SECONDS: Final = 60.0
"""A cold disk under a loading model is slow; a child that takes longer is broken."""

_MAX_BACKOFF_SECONDS: Final = 30.0


class EncoderPool:
    """Lends encoders for as long as its `async with` lasts; none of its children outlives it.

    One child is started with it and at least one is kept warm. Responses at the same time have a
    child each, started on demand.
    """

    def __init__(self, expected: NativeFormat | None = None) -> None:
        """Args:
        expected: What most responses will be made of; a child prepares to resample it.
        """
        self._expected_rate_hz = (expected or NativeFormat()).sample_rate
        self._group = anyio.create_task_group()
        self._idle: list[EncoderProcess] = []
        self._deaths_in_a_row = 0
        self.missing: dict[str, str] = {}
        """The formats that cannot be done here, and why."""

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that can be asked for, `wav` and `pcm` always among them."""
        return tuple(format for format in FORMATS if format not in self.missing)

    @property
    def idle_pids(self) -> tuple[int, ...]:
        """The process ids of the children that wait for a response."""
        return tuple(child.pid for child in self._idle)

    async def __aenter__(self) -> Self:
        """Returns when the first child is warm. Where none starts, wav and pcm are still there."""
        await self._group.__aenter__()
        try:
            first = await self._order()
        except EncoderCrashed as error:
            logger.error("only wav and pcm: %s", error)
            self.missing = dict.fromkeys(CODEC_FORMATS, error.message)
        except BaseException:
            await self._close()
            raise
        else:
            self.missing = first.missing
            self._shelve(first)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()

    @asynccontextmanager
    async def encoder(
        self, format: str, native: NativeFormat, *, buffered: bool = False
    ) -> AsyncGenerator[Encoder]:
        """Lends the encoder of one response.

        Left before the response is whole, it takes its child with it. Both tasks that use it
        must have ended by then.

        Args:
            format: One of `formats`.
            native: What the PCM is.
            buffered: Nothing is given before `finish`, and headers carry exact lengths.

        Raises:
            Unsupported: The format is unknown or cannot be done here.
            EncoderCrashed: No child would start.
        """
        if format not in FORMATS:
            known = ", ".join(self.formats)
            raise Unsupported(f"format is {format!r}; it is one of {known}", field="format")
        if format in self.missing:
            raise Unsupported(f"format {format!r}: {self.missing[format]}", field="format")

        if format not in CODEC_FORMATS:
            in_place = InPlaceEncoder(format, native, is_buffered=buffered)
            try:
                yield in_place
            finally:
                in_place.close()
            return

        child, response = await self._begin(format, native, is_buffered=buffered)
        try:
            yield response
        finally:
            self._give_back(child, response)

    async def _begin(
        self, format: str, native: NativeFormat, *, is_buffered: bool
    ) -> tuple[EncoderProcess, ChildEncoder]:
        """Returns a child with `format` open on it.

        One that died while it was idle, or dies of the start, costs another try; a new one that
        does is an error.
        """
        while True:
            is_warm = bool(self._idle)
            child = self._idle.pop() if is_warm else await self._order()
            response = ChildEncoder(child, native)
            child.attach(response)
            try:
                await response.start(format, native, is_buffered=is_buffered)
            except BaseException as error:
                self._give_back(child, response)
                if isinstance(error, EncoderCrashed) and is_warm:
                    continue
                raise
            return child, response

    def _give_back(self, child: EncoderProcess, response: ChildEncoder) -> None:
        response.close()
        child.detach()
        if response.is_complete:
            self._deaths_in_a_row = 0
            self._shelve(child)
        else:
            child.kill()

    async def _order(self) -> EncoderProcess:
        """Returns a new child.

        Not through `TaskGroup.start`: a caller who gives up would cancel the spawn half-way,
        through every shield. Here the child is finished, and serves the next one who comes.

        Raises:
            EncoderCrashed: It did not start.
        """
        order = _Order()
        self._group.start_soon(self._keep, order)
        try:
            await order.is_settled.wait()
        except BaseException:
            order.is_wanted = False
            if order.child is not None:
                self._shelve(order.child)
            raise
        if order.child is None:
            raise EncoderCrashed(order.failure)
        return order.child

    def _shelve(self, child: EncoderProcess) -> None:
        """Keeps a warm child for whoever comes next, or ends one too many."""
        if child.is_alive and len(self._idle) < _MAX_IDLE:
            self._idle.append(child)
        else:
            child.kill()

    async def _keep(self, order: "_Order") -> None:
        """One child's whole life, and the order for the next where none is left."""
        try:
            await self._live(order)
        except (EncoderCrashed, OSError) as error:
            order.failure = f"The encoder process does not start: {error}"
            return
        finally:
            order.is_settled.set()
        if not self._idle:
            await anyio.sleep(_backoff_seconds(self._deaths_in_a_row))
            try:
                self._shelve(await self._order())
            except EncoderCrashed as error:
                # The next response orders another, and fails if that one does.
                logger.error("no encoder is warm: %s", error)

    async def _live(self, order: "_Order") -> None:
        child = await spawn(self._expected_rate_hz)
        was_idle = False
        try:
            with anyio.move_on_after(_START_SECONDS) as start:
                await child.greet()
            if start.cancelled_caught:
                raise EncoderCrashed(f"it said nothing for {_START_SECONDS:.0f} s")
            if order.is_wanted:
                order.child = child
            else:
                self._shelve(child)
            order.is_settled.set()
            await child.serve()
        finally:
            if was_idle := child in self._idle:
                self._idle.remove(child)
            await child.end()
        if was_idle:
            self._deaths_in_a_row += 1
            logger.warning("idle encoder process %d died", child.pid)

    async def _close(self) -> None:
        self._group.cancel_scope.cancel()
        # Without the error of the body, which would come back wrapped in a group.
        await self._group.__aexit__(None, None, None)


class _Order:
    """A child that somebody asked for."""

    def __init__(self) -> None:
        self.is_settled = anyio.Event()
        self.is_wanted = True
        self.child: EncoderProcess | None = None
        self.failure = "the pool is closed"


def _backoff_seconds(deaths_in_a_row: int) -> float:
    """How long to wait before a child is replaced: not at all, then 1 s, 2 s, 4 s …"""
    if deaths_in_a_row < 2:
        return 0.0
    return min(2.0 ** (deaths_in_a_row - 2), _MAX_BACKOFF_SECONDS)
