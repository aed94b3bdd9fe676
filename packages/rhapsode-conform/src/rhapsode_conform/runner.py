"""Runs the checks against one worker."""

import logging
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

import anyio
from rhapsode_http import (
    Address,
    UnixAddress,
    UpstreamError,
    UpstreamTooLong,
    parse_address,
)

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Check
from rhapsode_conform.checks import CHECKS
from rhapsode_conform.first_look import (
    Unreachable,
    can_connect,
    expect_a_worker,
    first_look,
    in_time,
)
from rhapsode_conform.needs import unmet
from rhapsode_conform.outcome import PASSED, Finding, Outcome, Verdict
from rhapsode_conform.patience import Patience
from rhapsode_conform.result import Report, Result
from rhapsode_conform.spawned import Spawned, Start, spawned
from rhapsode_conform.subject import Subject
from rhapsode_conform.target import Target
from rhapsode_conform.texts import Texts
from rhapsode_conform.wire import Wire

logger = logging.getLogger(__name__)

_BARE: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""What a worker has around it that is given the three variables and nothing else."""

_OVERDUE_MOST: Final = 3
_GIVEN_UP: Final = Outcome(
    Verdict.UNDECIDED, f"not asked: none of the {_OVERDUE_MOST} checks before was settled in time"
)


@dataclass(frozen=True)
class Options:
    """What is checked, and how."""

    patience: Patience = field(default_factory=Patience)

    variant: str | None = None
    """The only variant to look at; None: all of them."""

    texts: Texts = field(default_factory=Texts)
    """What the worker is asked to say."""

    token: str | None = None
    """The bearer token of a worker on the network."""

    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a spawned worker inherits."""


async def check_worker(
    target: Target,
    options: Options,
    checks: Sequence[Check] = CHECKS,
    *,
    tell: Callable[[Result], None] = lambda _: None,
) -> Report:
    """Runs `checks` in their order, and returns what each came to.

    Args:
        target: The worker.
        options: What is checked, and how.
        checks: Those to run.
        tell: Called with each result as it comes.

    Raises:
        Unreachable: The worker cannot be started, or nothing answers where it should be.
    """
    results: list[Result] = []
    overdue = 0
    async with AsyncExitStack() as stack:
        subject = await stack.enter_async_context(_opened(target, options))
        for check in checks:
            if _has_ended(subject) or (overdue and subject.worker is not None):
                kept = _recordings(subject)
                await stack.aclose()
                subject = await stack.enter_async_context(_opened(target, options))
                subject.recordings.update(kept)
            result = Result(check, _GIVEN_UP, 0.0, is_unasked=True)
            if overdue < _OVERDUE_MOST:
                result = await _run(check, subject)
                overdue = overdue + 1 if result.is_overdue else 0
            results.append(result)
            tell(result)
    return Report(str(target), tuple(results))


def _recordings(subject: Subject) -> dict[str, Answer]:
    """Returns what need not be said again by another worker of the same command."""
    return {request: each for request, each in subject.recordings.items() if each.is_audio}


async def _run(check: Check, subject: Subject) -> Result:
    started = anyio.current_time()
    seconds = subject.patience.check_seconds
    outcome = Outcome(Verdict.FAILED, f"nothing was settled within {seconds:g} s")
    with anyio.move_on_after(seconds) as waiting:
        subject.waiting = waiting
        outcome = await _outcome(check, subject)
    if _has_ended(subject) and outcome.verdict is not Verdict.FAILED:
        assert subject.worker is not None
        seen = f"status {subject.worker.status}: {subject.worker.last_words}"
        outcome = Outcome(Verdict.FAILED, "the worker ended, and nobody had asked it to", seen)
    took_seconds = anyio.current_time() - started
    return Result(check, outcome, took_seconds, is_overdue=waiting.cancelled_caught)


async def _outcome(check: Check, subject: Subject) -> Outcome:
    try:
        missing = await unmet(check, subject)
        if missing is not None:
            return missing
        await check.run(subject)
    except Exception as error:  # what a worker says may trip a check up in ways nobody foresaw
        return _what_it_means(_first_of(error), check)
    return PASSED


def _first_of(error: Exception) -> Exception:
    """Returns what was raised first where several requests at once came to something."""
    while isinstance(error, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", error)
        error = group.exceptions[0]
    return error


def _what_it_means(error: Exception, check: Check) -> Outcome:
    if isinstance(error, Finding):
        return error.outcome
    if isinstance(error, UpstreamTooLong):
        return Outcome(Verdict.FAILED, "an answer has no end", str(error))
    if isinstance(error, UpstreamError):
        return Outcome(Verdict.FAILED, "a request got no answer", str(error))
    if isinstance(error, OSError | Unreachable):
        return Outcome(Verdict.FAILED, "another worker could not be started", str(error))
    logger.error("the check %s broke", check.id, exc_info=error)
    return Outcome(Verdict.FAILED, "an answer that the check cannot read", repr(error))


def _has_ended(subject: Subject) -> bool:
    return subject.worker is not None and subject.worker.status is not None


# --- Reaching the worker -------------------------------------------------------------------------


@asynccontextmanager
async def _opened(target: Target, options: Options) -> AsyncGenerator[Subject]:
    """Reaches the worker for a block, starting it where the target is a command."""
    if target.address is not None:
        wire = Wire(target.address, token=options.token)
        try:
            with in_time(wire, options.patience.start_seconds):
                first = await first_look(wire, options.variant)
            expect_a_worker(wire, first)
            yield Subject(wire, first, options.patience, options.variant, options.texts)
        finally:
            await wire.aclose()
        return
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        spawner = _Spawner(target, options, Path(folder))
        async with spawner.main() as subject:
            yield subject


class _Spawner:
    """Starts workers of one command, each with a socket of its own in one folder."""

    def __init__(self, target: Target, options: Options, folder: Path) -> None:
        self._target = target
        self._options = options
        self._folder = folder
        self._engine = target.engine
        self._started = 0
        self._others: list[Spawned] = []

    @asynccontextmanager
    async def main(self) -> AsyncGenerator[Subject]:
        """Starts the worker that most checks talk to."""
        try:
            async with self._spawned() as worker:
                if not worker.handshake:
                    raise Unreachable(
                        f"the worker {worker.state} before its handshake: {worker.last_words}"
                    )
                wire = Wire(_where(worker), token=self._options.token)
                try:
                    yield await self._subject(worker, wire)
                finally:
                    await wire.aclose()
        except OSError as error:
            raise Unreachable(f"the command cannot be run: {error}") from None

    async def _subject(self, worker: Spawned, wire: Wire) -> Subject:
        self._engine = self._engine or str(worker.handshake.get("engine"))
        with in_time(wire, self._options.patience.start_seconds):
            could_connect = await can_connect(wire)
            first = await first_look(wire, self._options.variant)
        return Subject(
            wire,
            first,
            self._options.patience,
            self._options.variant,
            self._options.texts,
            worker=worker,
            spawn=self.one_more,
            others=self._others,
            could_connect=could_connect,
        )

    @asynccontextmanager
    async def one_more(self, *, is_bare: bool = False, **fields: Any) -> AsyncGenerator[Spawned]:
        """Starts another worker for a block."""
        async with self._spawned(is_bare=is_bare, **fields) as worker:
            self._others.append(worker)
            yield worker

    @asynccontextmanager
    async def _spawned(self, *, is_bare: bool = False, **fields: Any) -> AsyncGenerator[Spawned]:
        self._started += 1
        inherited = dict(self._options.environment)
        if is_bare:
            inherited = {name: inherited[name] for name in _BARE if name in inherited}
        else:
            inherited["RHAPSODE_VOICE_DIR"] = str(self._folder / "voices")
        start = Start(
            command=self._target.command,
            environment=inherited,
            listen=UnixAddress(self._folder / f"{self._started}.sock"),
            engine=self._engine,
        )
        with anyio.move_on_after(self._options.patience.start_seconds) as waiting:
            async with spawned(replace(start, **fields)) as worker:
                waiting.deadline = float("inf")  # it was for the handshake alone
                yield worker
        if waiting.cancelled_caught:
            seconds = self._options.patience.start_seconds
            raise Unreachable(f"the worker said nothing within {seconds:g} s")


def _where(worker: Spawned) -> Address:
    """Returns where a worker says it listens, or was told to where it says nothing readable."""
    try:
        return parse_address(str(worker.handshake.get("listen")))
    except ValueError:
        return worker.start.listen
