"""The servers that are measured, each for the length of a block, and what they cost."""

import getpass
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rhapsode_http import Address, TcpAddress, UnixAddress

ROOT: Final = Path(__file__).resolve().parents[1]
_START_SECONDS: Final = 120
_STOP_SECONDS: Final = 20
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Running:
    """A server that answers."""

    address: Address

    pid: int


@contextmanager
def worker(python: Path, module: str, engine: str, folder: Path) -> Generator[Running]:
    """Runs a worker by itself, as the core would, on a Unix socket in `folder`."""
    address = UnixAddress(folder / "sockets" / f"{engine}.sock")
    environment = {
        **os.environ,
        "RHAPSODE_WORKER_LISTEN": str(address),
        "RHAPSODE_WORKER_ENGINE": engine,
        "RHAPSODE_WORKER_CONTRACT": "1",
    }
    log = folder / f"{engine}.log"
    with _process([python, "-m", module], log, environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"{engine} did not start: {log.read_text(encoding='utf-8')}")
        assert json.loads(line)["ready"] is True
        yield Running(address, process.pid)


@contextmanager
def core(engines: Mapping[str, Mapping[str, object]], folder: Path) -> Generator[Running]:
    """Runs the core with these engine entries, on a free port of loopback."""
    port = free_port()
    config = folder / "rhapsode.config.json"
    settings = {
        "server": {"host": "127.0.0.1", "port": port},
        "workers": {"socketDir": str(folder / "run"), "voiceDir": str(folder / "voices")},
        "engines": engines,
    }
    config.write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "rhapsode", "serve", "--config", config]
    with _process(command, folder / "core.log", os.environ) as process:
        _wait_for_port(port, process)
        yield Running(TcpAddress("127.0.0.1", port), process.pid)


@contextmanager
def other(
    command: Sequence[str | Path], port: int, log: Path, environment: Mapping[str, str]
) -> Generator[Running]:
    """Runs a server that is none of ours; what it says goes to `log`.

    Raises:
        RuntimeError: It ended before it listened on its port, or has not in two minutes.
    """
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=log.parent,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
        )
        try:
            _wait_for_port(port, process)
            yield Running(TcpAddress("127.0.0.1", port), process.pid)
        finally:
            _stop(process)


@contextmanager
def nginx(upstream: Address, folder: Path) -> Generator[Running]:
    """Runs nginx as a plain proxy in front of a worker, with kept connections to it."""
    assert isinstance(upstream, UnixAddress)
    port = free_port()
    config = folder / "nginx.conf"
    # Its worker must be us: a worker's socket is for nobody else.
    text = _NGINX.format(folder=folder, port=port, socket=upstream.path, user=getpass.getuser())
    config.write_text(text, "utf-8")
    command = ["nginx", "-p", folder, "-c", config, "-g", "daemon off;"]
    with _process(command, folder / "nginx.log", os.environ) as process:
        _wait_for_port(port, process)
        yield Running(TcpAddress("127.0.0.1", port), process.pid)


_NGINX: Final = """
user {user};
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.error.log warn;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    upstream worker {{ server unix:{socket}; keepalive 64; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://worker;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
        }}
    }}
}}
"""


def cpu_seconds(pid: int) -> float:
    """Returns the processor time that one process has used so far, its children left out."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def children(pid: int) -> list[int]:
    """Returns the process ids of a process's children."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8")
    return [int(child) for child in text.split()]


def tree(pid: int) -> list[int]:
    """Returns the process ids of a process and of everything below it that still runs."""
    found = [pid]
    for parent in found:
        with suppress(FileNotFoundError, ProcessLookupError):
            found += children(parent)
    return found


def tree_cpu_seconds(pid: int) -> float:
    """Returns the processor time that a process and those below it have used so far."""
    spent = 0.0
    for each in tree(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            spent += cpu_seconds(each)
    return spent


@dataclass(frozen=True)
class Memory:
    """What one process holds, its children left out, in bytes."""

    resident: int

    proportional: int
    """Of pages that several processes share, only this one's share."""


def memory(pid: int) -> Memory:
    """Returns what a process holds now."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8")
    kibibytes = {line.split()[0]: int(line.split()[1]) for line in text.splitlines()[1:]}
    return Memory(kibibytes["Rss:"] * 1024, kibibytes["Pss:"] * 1024)


def free_port() -> int:
    """Returns a port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _process(
    command: Sequence[str | Path], log: Path, environment: Mapping[str, str]
) -> Generator[subprocess.Popen[str]]:
    """Runs a command whose standard output is read, and ends it politely."""
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield process
        finally:
            _stop(process)
            assert process.stdout is not None
            process.stdout.close()


def _stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_for_port(port: int, process: subprocess.Popen[str]) -> None:
    """Returns when something listens on the port."""
    latest = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < latest:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except ConnectionRefusedError:
            os.sched_yield()
    raise RuntimeError(f"{process.args} did not start ({process.poll()}); its log is beside it")
