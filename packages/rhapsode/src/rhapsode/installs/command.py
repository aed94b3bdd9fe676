"""One command of an install: its output as it comes, and what is said where it fails."""

import os
import shlex
import signal
import sys
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from rhapsode_contract import Internal, ModelUnavailable

from rhapsode.installs.complaint import complaint
from rhapsode.installs.output import readable
from rhapsode.installs.report import Report
from rhapsode.workers import launcher
from rhapsode.workers.process import ChildProcess, Hearers, Launch, open_process

_KEPT_LINES: Final = 5000
"""The reason for a failed build may stand far from its end."""

_GRACE_SECONDS: Final = 2.0
_GONE_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.01


@dataclass(frozen=True)
class Command:
    """A program to be run to its end."""

    words: tuple[str, ...]

    environment: Mapping[str, str]

    cwd: Path

    def __str__(self) -> str:
        """As one would type it."""
        return shlex.join(self.words)


async def run(command: Command, report: Report | None = None) -> list[str]:
    """Runs a command to its end and returns what it printed, blank lines left out.

    Whatever it started ends with it, with a cancellation, and with the core.

    Args:
        command: Asked nothing: its standard input is empty.
        report: Told of each line as it comes; None where nobody is to see them.

    Raises:
        ModelUnavailable: It failed for a reason that may pass, such as no network.
        Internal: It failed, or could not be run. Either names it and quotes the line saying why.
        OSError: The folder it should run in is not there.
    """
    said: deque[str] = deque(maxlen=_KEPT_LINES)
    statuses: list[int] = []

    def hear(line: bytes) -> None:
        text = readable(line)
        if text:
            said.append(text)
            if report is not None:
                report.line(text)

    # The launcher ends the command when the core goes, however it goes: a pip that outlived it
    # would go on in a slot that the next job empties.
    launch = Launch(
        command=(sys.executable, "-I", "-S", launcher.__file__, *command.words),
        environment=command.environment,
        cwd=command.cwd,
        grace_seconds=_GRACE_SECONDS,
    )
    async with _whole_group(launch, Hearers(hear, hear, statuses.append)) as process:
        await process.exited()
    # Only now has it been heard to its end.
    if statuses != [0]:
        raise _failure(command, statuses[0], [*said])
    return [*said]


@asynccontextmanager
async def _whole_group(launch: Launch, hearers: Hearers) -> AsyncGenerator[ChildProcess]:
    """Runs a process for the length of the block, and returns when all that it started is gone.

    What is killed has still to die, and until then the system may finish a write of its own; the
    folder that it writes to is removed next.
    """
    group: int | None = None
    try:
        async with open_process(launch, hearers) as process:
            group = process.pid
            yield process
    finally:
        # Bounded: where nobody reaps orphans, as in a container without an init, the dead stay.
        with anyio.move_on_after(_GONE_SECONDS, shield=True):
            while group is not None and _is_there(group):  # noqa: ASYNC110 (nobody tells of it)
                await anyio.sleep(_LOOK_SECONDS)


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False  # EPERM is how macOS says that nobody is left
    return True


def _failure(command: Command, status: int, said: list[str]) -> Internal | ModelUnavailable:
    reason = complaint(said)
    message = f"`{command}` {_ending(status)}: {reason.text or 'it said nothing'}"
    return ModelUnavailable(message) if reason.may_pass else Internal(message)


def _ending(status: int) -> str:
    if status >= 0:
        return f"failed with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
