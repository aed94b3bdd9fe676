"""A registry's own client, run as a child: it knows the registry, its mirror and its secrets."""

import errno
import os
import re
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from rhapsode_worker.weights.source import Errand, SourceFailed
from rhapsode_worker.weights.staging import sizes_below

_POLL_SECONDS: Final = 0.2
_GRACE_SECONDS: Final = 5.0
_SAID_CHARACTERS: Final = 400
_KEPT_LINES: Final = 500
_LONGEST_LINE_BYTES: Final = 4_096
_LAST_WORDS_SECONDS: Final = 5.0

_TELLING: Final = re.compile(r"(?i)^(?:npm )?(?:error|err!|warning: retrying)")
"""The lines of pip and npm that say why; the last line is often a footer."""

_NO_ROOM: Final = re.compile(r"No space left on device|ENOSPC|Disk quota exceeded|File too large")


def run_client(command: Sequence[str], errand: Errand, scratch: Path) -> None:
    """Runs a client to its end; whatever it writes, temporary files too, lies below `scratch`.

    It stays in this process group, so that whoever ends the worker ends it too.

    Args:
        command: The program and its arguments.
        errand: Whose variables it gets, who is told of its progress, and who may stop it.
        scratch: An existing folder, the child's working directory.

    Raises:
        SourceFailed: It failed, or wrote nothing for too long; the reason quotes its output.
        OSError: There was no room for what it wrote.
        ModelUnavailable: The fetch was stopped.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=scratch,
            env={**errand.environ, "TMPDIR": str(scratch)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise SourceFailed(f"{command[0]} does not start: {error.strerror}") from None
    said = _Said(process)
    try:
        status = _watch(process, said, errand, scratch)
    finally:
        _end(process)
    output = said.to_the_end()
    if status != 0:
        _raise_failure(output, status)


class _Said:
    """What a client says, held in memory: where the disk is full it could say it nowhere else."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self.size = 0
        """In bytes, so far."""
        self._lines = deque[bytes](maxlen=_KEPT_LINES)
        self._thread = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._thread.start()

    def to_the_end(self) -> str:
        """Returns the last of it. A child of the client's own that lives on is not waited for."""
        self._thread.join(_LAST_WORDS_SECONDS)
        return b"".join(list(self._lines)).decode(errors="replace")

    def _read(self, stdout: IO[bytes]) -> None:
        with stdout:
            while line := stdout.readline(_LONGEST_LINE_BYTES):
                self._lines.append(line)
                self.size += len(line)


def _watch(process: subprocess.Popen[bytes], said: _Said, errand: Errand, scratch: Path) -> int:
    before = errand.part.arrived()
    seen: tuple[list[int], int] = ([], 0)
    moved_at = time.monotonic()
    while True:
        try:
            return process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            errand.stop.check()
        there = sizes_below(scratch)
        if (there, said.size) != seen:
            seen, moved_at = (there, said.size), time.monotonic()
            # The largest is the archive: clients copy it about, and it counts once.
            errand.meter.show(before + max(there, default=0))
        elif time.monotonic() - moved_at > errand.patience.client_silence_seconds:
            raise SourceFailed(f"brought nothing for {time.monotonic() - moved_at:.0f} s")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _raise_failure(output: str, status: int) -> None:
    if _NO_ROOM.search(output):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.match(line)] or lines[-1:]
    # The same line comes once for each retry.
    said = " | ".join(dict.fromkeys(telling))[:_SAID_CHARACTERS]
    raise SourceFailed(said or f"the client ended with status {status}, saying nothing")
