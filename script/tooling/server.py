"""A Rhapsode server that a tool starts, waits for, and always stops."""

import socket
import subprocess
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


@dataclass(frozen=True)
class Server:
    """A server that is ready."""

    url: str

    process: subprocess.Popen[bytes]


@contextmanager
def running(command: Sequence[str | Path], port: int, log: Path) -> Generator[Server]:
    """Runs a server for the length of a block, its output going to a file.

    Args:
        command: Starts the server, on 127.0.0.1 at `port`.
        port: Where it is told to listen.
        log: Where its output goes; what was in the file is lost.

    Raises:
        CommandFailed: It ended, or said nothing of the port for `READY_SECONDS`.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env=quiet_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # A Ctrl-C is for us; the server then gets its SIGTERM from the end of this block.
        start_new_session=True,
    )
    is_ready, has_ended = threading.Event(), threading.Event()
    reader = threading.Thread(
        target=_read, args=(process, f":{port}", log, is_ready, has_ended), daemon=True
    )
    reader.start()
    try:
        if not is_ready.wait(READY_SECONDS) or has_ended.is_set():
            process.terminate()
            raise CommandFailed(_why(log))
        yield Server(f"http://127.0.0.1:{port}", process)
    finally:
        _stop(process)
        reader.join(STOP_SECONDS)


def free_port(preferred: int) -> int:
    """Returns `preferred` if nothing listens there, else a port that is free."""
    for port in (preferred, 0):
        with socket.socket(socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET) as s:
            if s.family == socket.AF_INET6:
                s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("", port))
            except OSError:
                continue
            return int(s.getsockname()[1])
    raise CommandFailed("no port is free")


def _read(
    process: subprocess.Popen[bytes],
    sign: str,
    log: Path,
    is_ready: threading.Event,
    has_ended: threading.Event,
) -> None:
    """Copies the server's output to the log until it ends; the line with `sign` says ready."""
    assert process.stdout is not None
    with log.open("wb") as file:
        for line in process.stdout:
            file.write(line)
            file.flush()
            if sign.encode() in line and not is_ready.is_set():
                is_ready.set()
    has_ended.set()
    is_ready.set()


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _why(log: Path) -> str:
    output = log.read_text("utf-8", "replace")
    return f"the server did not start; its log, {log}, ends with\n{last_lines(output)}"
