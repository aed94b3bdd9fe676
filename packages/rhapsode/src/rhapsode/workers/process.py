"""A child process that lives no longer than a block (design, "Processes").

On asyncio's subprocess protocol and not on streams: it tells of an exit whoever still holds the
pipes, and its transport can close our ends of them.
"""

import asyncio
import logging
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from rhapsode.workers.lines import Lines

logger = logging.getLogger(__name__)

_STDOUT: Final = 1
_STDERR: Final = 2
_ASK_SECONDS: Final = 2.0
_REAP_SECONDS: Final = 5.0
_LAST_WORDS_SECONDS: Final = 1.0
_SPAWN_PAIRS: Final = 5
"""Of descriptors: one for each of three streams, and two of uvloop's own."""


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


class ChildProcess(asyncio.SubprocessProtocol):
    """A process that leads a session of its own, with our end of its lifeline."""

    def __init__(self, hearers: Hearers, grace_seconds: float) -> None:
        self._hear = {_STDOUT: hearers.stdout, _STDERR: hearers.stderr}
        self._lines = {_STDOUT: Lines(), _STDERR: Lines()}
        self._hear_exit = hearers.exit
        self._grace_seconds = grace_seconds
        self._transport: asyncio.SubprocessTransport | None = None
        self._has_been_told = False
        self._exited = anyio.Event()
        self._silent = anyio.Event()

    @property
    def pid(self) -> int:
        """Of the process, its session and its process group."""
        return self._handle.get_pid()

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
                    # Not the group: what an engine runs beside itself lives until it has drained.
                    with suppress(ProcessLookupError):
                        self._handle.send_signal(signal.SIGTERM)
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
        # EPERM is how macOS says that nobody is left.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Hears its last words and closes our ends of its pipes, the lifeline among them."""
        # Whoever else holds the pipes is not waited for.
        with anyio.move_on_after(_LAST_WORDS_SECONDS):
            await self._silent.wait()
        self._handle.close()

    async def _has_landed(self, ask: Callable[[], Awaitable[bool]]) -> bool:
        with anyio.move_on_after(_ASK_SECONDS):
            return await ask()
        return False

    @property
    def _handle(self) -> asyncio.SubprocessTransport:
        assert self._transport is not None
        return self._transport

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process has been spawned."""
        self._transport = transport  # pyright: ignore[reportAttributeAccessIssue]  # uvloop's is no subclass

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """It said something: at most as much as a pipe holds."""
        for line in self._lines[fd].feed(data):
            self._hear[fd](line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """It closed a stream."""
        if fd in self._lines:
            for line in self._lines[fd].finish():
                self._hear[fd](line)

    def process_exited(self) -> None:
        """It is gone, and reaped; a child of its own may hold its pipes open longer."""
        status = self._handle.get_returncode()
        assert status is not None
        self._exited.set()
        self._hear_exit(status)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone, and nobody holds its pipes."""
        self._silent.set()


@asynccontextmanager
async def open_process(launch: Launch, hearers: Hearers) -> AsyncGenerator[ChildProcess]:
    """Runs a process for the length of the block; nothing of it outlives the block.

    Raises:
        OSError: The command cannot be run; `filename` is it, or the folder it should run in.
    """
    process = await _spawn(launch, hearers)  # no await between this and the try
    try:
        yield process
    finally:
        # Shielded: we may be here because of a cancellation. Every wait in it is bounded.
        with anyio.CancelScope(shield=True):
            await process.end()
            await process.close()


async def _spawn(launch: Launch, hearers: Hearers) -> ChildProcess:
    loop = asyncio.get_running_loop()
    # Shielded: a spawn cut short leaves a child that nobody reaps.
    with anyio.CancelScope(shield=True):
        try:
            _see_that_there_is_room()
            _, process = await loop.subprocess_exec(
                lambda: ChildProcess(hearers, launch.grace_seconds),
                *launch.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(launch.environment),
                cwd=launch.cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise OSError(error.errno, error.strerror, _culprit(launch)) from None
        return process
    raise AssertionError("unreachable: a shield swallows nothing")


def _see_that_there_is_room() -> None:
    """Sees that there are descriptors enough for a spawn. Where one is missing in the midst of it,
    uvloop says no more than `Unknown error -1`, and leaves those open that it has made.

    Raises:
        OSError: There are not.
    """
    with ExitStack() as held:
        for _ in range(_SPAWN_PAIRS):
            for end in os.pipe():
                held.callback(os.close, end)


def _culprit(launch: Launch) -> str:
    """Returns which file a failed spawn is about; uvloop does not say."""
    cwd = launch.cwd
    if cwd is not None and not (cwd.is_dir() and os.access(cwd, os.X_OK)):
        return str(cwd)
    return launch.command[0]
