"""A worker process, everything it says, and the way to talk to it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from rhapsode_http import Client, UpstreamResponse, beside, parse_address

ADAPTERS = Path(__file__).with_name("adapters")
TONE = ("-m", "rhapsode_engine_tone")
SECONDS = 60
"""A bound on the whole life of a worker; none takes a tenth of it."""


@dataclass
class Worker:
    """A process that was started as a worker."""

    process: Process
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    has_shaken_hands: anyio.Event = field(default_factory=anyio.Event)
    """Set with the first line on standard output, and at the end of it if there was none."""
    _heard: anyio.Event = field(default_factory=anyio.Event)
    """Set, and made anew, with each piece that comes."""

    @property
    def handshake(self) -> dict[str, Any]:
        """Everything on standard output, which is one line."""
        (line,) = self.stdout.decode().splitlines()
        handshake: dict[str, Any] = json.loads(line)
        return handshake

    @property
    def log(self) -> list[dict[str, Any]]:
        """Everything on standard error, which is JSON lines."""
        return [json.loads(line) for line in self.stderr.decode().splitlines()]

    @property
    def messages(self) -> list[str]:
        """What the log lines say."""
        return [line["message"] for line in self.log]

    @property
    def client(self) -> Client:
        """A new client of the address that the handshake names."""
        return Client(parse_address(self.handshake["listen"]))

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Sends a signal to the worker alone."""
        self.process.send_signal(number)

    async def ended(self) -> int:
        """Waits for the end; returns the exit status."""
        return await self.process.wait()

    async def says(self, text: str) -> None:
        """Waits until standard error holds a text."""
        while text.encode() not in self.stderr:
            await self._heard.wait()

    async def listen(self) -> None:
        """Keeps what the process says, until it closes both pipes."""

        async def read(stream: AsyncIterable[bytes] | None, kept: bytearray) -> None:
            assert stream is not None
            async for piece in stream:
                kept += piece
                if b"\n" in self.stdout:
                    self.has_shaken_hands.set()
                self._heard.set()
                self._heard = anyio.Event()

        async with anyio.create_task_group() as both:
            both.start_soon(read, self.process.stdout, self.stdout)
            both.start_soon(read, self.process.stderr, self.stderr)
        self.has_shaken_hands.set()

    def left_behind(self) -> list[str]:
        """The processes of the worker's group that are still there."""
        return [
            command
            for command, group, state in _processes()
            if group == self.process.pid and state != "Z"
        ]


@asynccontextmanager
async def spawned(
    *command: str,
    stdin: int = subprocess.DEVNULL,
    environ: Mapping[str, str] | None = None,
) -> AsyncGenerator[Worker]:
    """Starts a process with this environment alone; ends it, and its group, with the block."""
    with anyio.fail_after(SECONDS):
        process = await anyio.open_process(
            [sys.executable, *command], stdin=stdin, env=environ or {}, start_new_session=True
        )
        worker = Worker(process)
        try:
            async with beside(worker.listen):
                yield worker
        finally:
            with anyio.CancelScope(shield=True):
                if worker.left_behind():
                    os.killpg(process.pid, signal.SIGKILL)
                await process.aclose()


@asynccontextmanager
async def running(
    *command: str,
    listen: str | None = None,
    engine: str = "tone",
    stdin: int = subprocess.DEVNULL,
    environ: Mapping[str, str] | None = None,
) -> AsyncGenerator[Worker]:
    """Starts a worker with the three variables of the contract, and waits for its handshake."""
    with tempfile.TemporaryDirectory(prefix="rhw") as folder:
        variables = {
            "RHAPSODE_WORKER_LISTEN": listen or f"unix:{folder}/w.sock",
            "RHAPSODE_WORKER_ENGINE": engine,
            "RHAPSODE_WORKER_CONTRACT": "1",
            **(environ or {}),
        }
        async with spawned(*(command or TONE), stdin=stdin, environ=variables) as worker:
            await worker.has_shaken_hands.wait()
            assert worker.stdout, worker.stderr.decode()
            yield worker


async def begin(
    client: Client, method: str, target: str, body: Mapping[str, Any] | None = None
) -> UpstreamResponse:
    """Sends a request and returns its answer once the head has come."""
    headers = [(b"content-type", b"application/json")] if body is not None else []
    sent = b"" if body is None else json.dumps(body).encode()
    return await client.request(method, target, headers, sent)


async def ask(
    client: Client, method: str, target: str, body: Mapping[str, Any] | None = None
) -> tuple[int, bytes]:
    """Sends a request; returns status and body."""
    async with await begin(client, method, target, body) as response:
        return response.status, await response.read_all(limit_bytes=1 << 30)


def _processes() -> Sequence[tuple[str, int, str]]:
    """Every process of this machine: command, process group, state."""
    done = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True
    )
    rows = (line.split(maxsplit=2) for line in done.stdout.splitlines())
    return [(row[2], int(row[0]), row[1][0]) for row in rows if len(row) == 3]
