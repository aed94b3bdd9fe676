"""A Rhapsode server that a tool starts, waits for, and always stops."""

import ctypes
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from commands import ROOT, CommandFailed, last_lines, quiet_environment

READY_SECONDS = 60.0
"""Longest wait for the line that says the server listens."""

STOP_SECONDS = 40.0
"""Longest wait for it to finish what it does, above its own grace periods."""


_PR_SET_PDEATHSIG = 1

_ADDRESS = re.compile(rb"http://(127\.0\.0\.1|localhost):\d+")


@dataclass(frozen=True)
class Server:
    """A server that is ready."""

    url: str

    process: subprocess.Popen[bytes]


@contextmanager
def running(command: Sequence[str | Path], log: Path) -> Generator[Server]:
    """Runs a server for the length of a block, its output going to a file.

    Args:
        command: Starts a server on this machine's loopback.
        log: Where its output goes; what was in the file is lost.

    Raises:
        CommandFailed: It ended, or named no address for `READY_SECONDS`; the log says why.
    """
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        # What it installs is cached in the checkout as well, and nowhere in the user's home.
        env={"UV_CACHE_DIR": str(ROOT / ".cache" / "uv")} | quiet_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # A Ctrl-C is for us; the server then gets its SIGTERM from the end of this block.
        start_new_session=True,
        preexec_fn=_end_with_us,
    )
    # One address, or None at the end of an output that named none.
    found: queue.Queue[str | None] = queue.Queue()
    reader = threading.Thread(target=_read, args=(process, log, found), daemon=True)
    reader.start()
    try:
        yield Server(_address(found, log), process)
    finally:
        _stop(process)
        reader.join(STOP_SECONDS)


def is_free(port: int) -> bool:
    """Says whether nothing listens on a port of this machine's loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _address(found: "queue.Queue[str | None]", log: Path) -> str:
    try:
        url = found.get(timeout=READY_SECONDS)
    except queue.Empty:
        url = None
    if url is None:
        output = log.read_text("utf-8", "replace")
        raise CommandFailed(f"the server did not start:\n{last_lines(output)}")
    return url


def _read(process: subprocess.Popen[bytes], log: Path, found: "queue.Queue[str | None]") -> None:
    """Copies the server's output to the log until it ends, and finds the address in it."""
    assert process.stdout is not None
    with log.open("wb") as file:
        for line in process.stdout:
            file.write(line)
            file.flush()
            if match := _ADDRESS.search(line):
                found.put(match.group().decode())
    found.put(None)


def _end_with_us() -> None:
    """Has the kernel end the server when we are killed; off Linux nobody does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
