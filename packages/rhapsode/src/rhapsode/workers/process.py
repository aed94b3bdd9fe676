"""A child process that lives no longer than a block (design, "Processes")."""

import logging
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import anyio.abc

from rhapsode.workers.lines import Lines

logger = logging.getLogger(__name__)

_PIECE_BYTES: Final = 64 * 1024
_ASK_SECONDS: Final = 2.0
_REAP_SECONDS: Final = 5.0
_LAST_WORDS_SECONDS: Final = 1.0


@dataclass(frozen=True)
class Launch:
    """How a process is started and how long it may take to end."""

    command: tuple[str, ...]

    environment: Mapping[str, str]

    cwd: Path | None

    grace_seconds: float
    """From being told to end until it is killed."""


@dataclass(frozen=True)
class Hearers:
    """Who hears of what a process does; each is called on the loop and must not block."""

    stdout: Callable[[bytes], None]
    """Called with each line of standard output."""

    stderr: Callable[[bytes], None]

    exit: Callable[[int], None]
    """Called once, with the exit status, or the negated number of the signal that ended it."""


class ChildProcess:
    """A process that leads a session of its own, with our end of its lifeline."""

    def __init__(self, child: anyio.abc.Process, grace_seconds: float) -> None:
        self._child = child
        self._grace_seconds = grace_seconds
        self._has_been_told = False
        self._exited = anyio.Event()

    @property
    def pid(self) -> int:
        """Of the process, its session and its process group."""
        return self._child.pid

    async def exited(self) -> None:
        """Returns once the process has ended and is reaped."""
        await self._exited.wait()

    async def end(self, ask: Callable[[], Awaitable[bool]] | None = None) -> None:
        """Tells the process to drain, kills its group after the grace, and reaps it.

        Asked a second time while the first still waits it kills at once.

        Args:
            ask: Tells it in a better way than SIGTERM and returns whether that arrived.
        """
        if not self._has_been_told:
            self._has_been_told = True
            with anyio.move_on_after(self._grace_seconds):
                if ask is None or not await self._has_landed(ask):
                    self._signal_leader(signal.SIGTERM)
                await self._exited.wait()
        # Always: the leader may have left children behind.
        self.kill()
        with anyio.move_on_after(_REAP_SECONDS) as reaping:
            await self._exited.wait()
        if reaping.cancelled_caught:
            # Stuck in a driver call, where no signal reaches it.
            logger.error("process %d survives SIGKILL; leaving it", self.pid)

    def kill(self) -> None:
        """Kills the whole process group, now."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # nobody is left; macOS says so with EPERM

    async def _has_landed(self, ask: Callable[[], Awaitable[bool]]) -> bool:
        with anyio.move_on_after(_ASK_SECONDS):
            return await ask()
        return False

    def _signal_leader(self, number: int) -> None:
        # Not the group: what an engine runs beside itself should live until it has drained.
        try:
            self._child.send_signal(number)
        except ProcessLookupError:
            pass

    async def watch(self, exit: Callable[[int], None]) -> None:
        """Waits for the process's own end; a child of its own may hold its pipes open longer."""
        status = await self._child.wait()
        self._exited.set()
        exit(status)


@asynccontextmanager
async def open_process(launch: Launch, hearers: Hearers) -> AsyncGenerator[ChildProcess]:
    """Runs a process for the length of the block; nothing of it outlives the block.

    Raises:
        OSError: The command cannot be run.
    """
    child = await _spawn(launch)  # no await between this and the try
    process = ChildProcess(child, launch.grace_seconds)
    # What a worker says while it drains is read although we are being cancelled: a full pipe
    # would stop it. The scope is ours to close.
    listening = anyio.CancelScope(shield=True)
    failure: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_listen, child, process, hearers, listening)
            try:
                yield process
            except Exception as error:
                # Kept out of the task group, which would wrap it in a group of one.
                failure = error
            finally:
                with anyio.CancelScope(shield=True):
                    await process.end()
                # Its last words may still be in the pipe; whoever else holds it is not waited for.
                listening.deadline = anyio.current_time() + _LAST_WORDS_SECONDS
    finally:
        with anyio.CancelScope(shield=True):
            await _close(child)
    if failure is not None:
        raise failure


async def _spawn(launch: Launch) -> anyio.abc.Process:
    # Shielded: a spawn cut short leaves a child that nobody reaps.
    with anyio.CancelScope(shield=True):
        return await anyio.open_process(
            launch.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=launch.environment,
            cwd=launch.cwd,
            start_new_session=True,
        )
    raise AssertionError("unreachable: a shield swallows nothing")


async def _listen(
    child: anyio.abc.Process,
    process: ChildProcess,
    hearers: Hearers,
    listening: anyio.CancelScope,
) -> None:
    assert child.stdout is not None and child.stderr is not None
    with listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_pump, child.stdout, hearers.stdout)
            tasks.start_soon(_pump, child.stderr, hearers.stderr)
            tasks.start_soon(process.watch, hearers.exit)


async def _pump(stream: anyio.abc.ByteReceiveStream, hear: Callable[[bytes], None]) -> None:
    lines = Lines()
    while True:
        try:
            piece = await stream.receive(_PIECE_BYTES)
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            break
        for line in lines.feed(piece):
            hear(line)
    for line in lines.finish():
        hear(line)


async def _close(child: anyio.abc.Process) -> None:
    """Closes our ends of the pipes, the lifeline among them."""
    for stream in (child.stdin, child.stdout, child.stderr):
        assert stream is not None
        with anyio.move_on_after(_LAST_WORDS_SECONDS):
            try:
                await stream.aclose()
            except OSError:
                pass  # the other end went first
