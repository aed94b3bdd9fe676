"""A worker process, started as a core starts one, that lives no longer than a block."""

import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process
from rhapsode_contract import CONTRACT
from rhapsode_http import Address, beside

from rhapsode_conform.answer import as_json_object

LISTEN = "RHAPSODE_WORKER_LISTEN"
ENGINE = "RHAPSODE_WORKER_ENGINE"
OFFER = "RHAPSODE_WORKER_CONTRACT"
LIFELINE = "RHAPSODE_WORKER_LIFELINE"
VOICES = "RHAPSODE_VOICE_DIR"

_GRACE_SECONDS = 5.0
_REAP_SECONDS = 5.0
_LAST_WORDS_SECONDS = 1.0
_OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024
"""Most that is kept of one stream; what comes after it is read and forgotten."""


@dataclass(frozen=True)
class Start:
    """How a worker is started."""

    command: tuple[str, ...]

    environment: Mapping[str, str]
    """What it inherits; the variables of the protocol are put over it."""

    listen: Address

    engine: str | None
    """None leaves the variable out."""

    offer: int = CONTRACT

    has_lifeline: bool = True
    """Whether it is told that standard input is its life line. The pipe is there in any case."""

    def variables(self) -> dict[str, str]:
        """Returns the whole environment of the process."""
        own = {LISTEN: str(self.listen), OFFER: str(self.offer)}
        if self.engine is not None:
            own[ENGINE] = self.engine
        if self.has_lifeline:
            own[LIFELINE] = "stdin"
        return {**self.environment, **own}


@dataclass
class Spawned:
    """A worker process, and all it has said."""

    start: Start

    process: Process

    stdout: bytearray = field(default_factory=bytearray)

    stderr: bytearray = field(default_factory=bytearray)

    spoke: anyio.Event = field(default_factory=anyio.Event)
    """Set once standard output has a whole line that is meant as a handshake."""

    silent: anyio.Event = field(default_factory=anyio.Event)
    """Set once both streams have ended."""

    @property
    def handshake(self) -> dict[str, Any]:
        """The handshake as it was printed; empty while there is none."""
        for line in map(as_json_object, self.lines):
            if "ready" in line:
                return line
        return {}

    @property
    def lines(self) -> list[str]:
        """Every line of standard output, the last one whole or not."""
        return self.stdout.decode(errors="replace").splitlines()

    @property
    def log(self) -> list[str]:
        """Every line of standard error, the last one whole or not."""
        return self.stderr.decode(errors="replace").splitlines()

    @property
    def last_words(self) -> str:
        """What it said last on standard error, for a report."""
        return " / ".join(self.log[-3:]) or "nothing on standard error"

    @property
    def state(self) -> str:
        """What became of it, for a report."""
        if self.status is None:
            return "still runs"
        if self.status < 0:
            return f"was ended by signal {-self.status}"
        return f"ended with status {self.status}"

    @property
    def status(self) -> int | None:
        """Its exit status, or the negated number of the signal that ended it; None: it runs."""
        return self.process.returncode

    async def exited(self) -> int:
        """Waits for its end and for its last words; returns the status."""
        status = await self.process.wait()
        # A child of its own may hold the pipes open for longer.
        with anyio.move_on_after(_LAST_WORDS_SECONDS):
            await self.silent.wait()
        return status

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process, not to its group. Silent once it is gone."""
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    async def cut_lifeline(self) -> None:
        """Closes our end of its standard input, as the end of a core does."""
        if self.process.stdin is not None:
            with suppress(anyio.BrokenResourceError, OSError):
                await self.process.stdin.aclose()


@asynccontextmanager
async def spawned(start: Start) -> AsyncGenerator[Spawned]:
    """Runs a worker for the length of the block; nothing of it outlives the block.

    Yields as soon as it has shaken hands or ended, whichever came first: look at `handshake`. The
    caller bounds that wait.

    Raises:
        OSError: The command cannot be run.
    """
    process = await _spawn(start)  # no await between this and the try
    worker = Spawned(start, process)
    try:
        async with beside(lambda: _hear(worker)):
            await _first_word(worker)
            yield worker
            await _end(worker)
    finally:
        # Shielded: we may be here because of a cancellation. Every wait in it is bounded.
        with anyio.CancelScope(shield=True):
            await _end(worker, grace_seconds=0)
            with anyio.move_on_after(_REAP_SECONDS):
                await process.aclose()


async def _spawn(start: Start) -> Process:
    # Shielded: a spawn cut short leaves a child that nobody reaps.
    with anyio.CancelScope(shield=True):
        return await anyio.open_process(
            start.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=start.variables(),
            start_new_session=True,
        )
    raise AssertionError("unreachable: a shield swallows nothing")


async def _end(worker: Spawned, grace_seconds: float = _GRACE_SECONDS) -> None:
    """Asks it to end, then kills its whole group, and reaps it."""
    if worker.status is None and grace_seconds:
        worker.signal(signal.SIGTERM)
        with anyio.move_on_after(grace_seconds):
            await worker.exited()
    # Always: the leader may have left children behind. EPERM is how macOS says nobody is left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.process.pid, signal.SIGKILL)
    with anyio.move_on_after(_REAP_SECONDS):
        await worker.process.wait()


async def _first_word(worker: Spawned) -> None:
    """Waits for the handshake or for the end of the process."""

    async def exited(scope: anyio.CancelScope) -> None:
        await worker.exited()
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(exited, tasks.cancel_scope)
        await worker.spoke.wait()
        tasks.cancel_scope.cancel()


async def _hear(worker: Spawned) -> None:
    assert worker.process.stdout is not None and worker.process.stderr is not None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_keep, worker.process.stdout, worker.stdout, worker)
        tasks.start_soon(_keep, worker.process.stderr, worker.stderr, worker)
    worker.silent.set()


async def _keep(stream: ByteReceiveStream, kept: bytearray, worker: Spawned) -> None:
    """Reads a stream to its end: one that is not read stops the worker once its pipe is full."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for piece in stream:
            kept += piece[: max(0, _OUTPUT_LIMIT_BYTES - len(kept))]
            if kept is worker.stdout and b"\n" in piece and worker.handshake:
                worker.spoke.set()
