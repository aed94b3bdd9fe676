"""Runs the checks against one worker."""

import logging
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import anyio
from rhapsode_http import Address, UnixAddress, UpstreamError, UpstreamUnreachable, parse_address

from rhapsode_conform.answer import as_object
from rhapsode_conform.check import Check
from rhapsode_conform.checks import CHECKS
from rhapsode_conform.needs import unmet
from rhapsode_conform.outcome import PASSED, Finding, Outcome, Verdict
from rhapsode_conform.patience import Patience
from rhapsode_conform.result import Report, Result
from rhapsode_conform.spawned import Spawned, Start, spawned
from rhapsode_conform.subject import FirstLook, Subject
from rhapsode_conform.target import Target
from rhapsode_conform.wire import Wire

logger = logging.getLogger(__name__)

_BARE: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""What a worker has around it that is given the three variables and nothing else."""

_OVERDUE_MOST: Final = 3
_GIVEN_UP: Final = Outcome(
    Verdict.UNDECIDED, f"not asked: none of the {_OVERDUE_MOST} checks before was settled in time"
)

_ADDRESS_RETRIES: Final = 50
_RETRY_SECONDS: Final = 0.1


class Unreachable(Exception):
    """There is no worker to check; the message says why."""


@dataclass(frozen=True)
class Options:
    """What is checked, and how."""

    patience: Patience = field(default_factory=Patience)

    variant: str | None = None
    """The only variant to look at; None: all of them."""

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
                await stack.aclose()
                subject = await stack.enter_async_context(_opened(target, options))
            result = Result(check, _GIVEN_UP, 0.0)
            if overdue < _OVERDUE_MOST:
                result = await _run(check, subject)
                overdue = overdue + 1 if result.is_overdue else 0
            results.append(result)
            tell(result)
    return Report(str(target), tuple(results))


async def _run(check: Check, subject: Subject) -> Result:
    started = anyio.current_time()
    seconds = subject.patience.check_seconds
    outcome = Outcome(Verdict.FAILED, f"nothing was settled within {seconds:g} s")
    with anyio.move_on_after(seconds) as waiting:
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
    except Finding as finding:
        return finding.outcome
    except UpstreamError as error:
        return Outcome(Verdict.FAILED, "a request got no answer", str(error))
    except (OSError, Unreachable) as error:
        return Outcome(Verdict.FAILED, "another worker could not be started", str(error))
    except Exception as error:  # what a worker says may trip a check up in ways nobody foresaw
        logger.exception("the check %s broke", check.id)
        return Outcome(Verdict.FAILED, "an answer that the check cannot read", repr(error))
    return PASSED


def _has_ended(subject: Subject) -> bool:
    return subject.worker is not None and subject.worker.status is not None


# --- Reaching the worker -------------------------------------------------------------------------


@asynccontextmanager
async def _opened(target: Target, options: Options) -> AsyncGenerator[Subject]:
    """Reaches the worker for a block, starting it where the target is a command."""
    if target.address is not None:
        wire = Wire(target.address, token=options.token)
        try:
            first = await _first_look(wire, options)
            yield Subject(wire, first, options.patience, options.variant)
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
                    ended = "ended" if worker.status is not None else "said nothing"
                    raise Unreachable(
                        f"the worker {ended} before its handshake: {worker.last_words}"
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
        could_connect = True
        try:
            await wire.get("/health")
        except UpstreamUnreachable:
            could_connect = False
        return Subject(
            wire,
            await _first_look(wire, self._options),
            self._options.patience,
            self._options.variant,
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


async def _first_look(wire: Wire, options: Options) -> FirstLook:
    """Asks for health, capabilities and voices; a worker that is not there yet is asked again.

    Raises:
        Unreachable: Nothing answers, or the variant to be looked at is not there.
    """
    error: Exception | None = None
    for _ in range(_ADDRESS_RETRIES):
        try:
            first = FirstLook(
                await wire.get("/health"),
                await wire.get("/capabilities"),
                await wire.get("/voices"),
            )
        except UpstreamUnreachable as failure:
            error = failure
            await anyio.sleep(_RETRY_SECONDS)
            continue
        except UpstreamError as failure:
            error = failure
            break
        variants = as_object(first.capabilities.object.get("variants"))
        if options.variant is not None and options.variant not in variants:
            raise Unreachable(
                f"there is no variant {options.variant!r}; there are {list(variants)}"
            )
        return first
    raise Unreachable(f"no worker answers at {wire.address}: {error}")
