"""A worker process of this engine, and the way to talk to it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

REAL: Final = ("-m", "rhapsode_engine_kokoro")
"""The engine as the core starts it."""

ELSEWHERE: Final = str(Path(__file__).with_name("elsewhere.py"))

SECONDS: Final = 300
"""A bound on every answer."""


@dataclass(frozen=True)
class Worker:
    """A process that has shaken hands."""

    process: subprocess.Popen[bytes]
    socket: Path

    @property
    def pid(self) -> int:
        """Its process, which leads a group."""
        return self.process.pid

    def client(self) -> httpx.Client:
        """Returns a client of its socket, to be closed."""
        transport = httpx.HTTPTransport(uds=str(self.socket))
        return httpx.Client(transport=transport, base_url="http://worker", timeout=SECONDS)

    def post(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """Sends a request and returns the whole answer."""
        with self.client() as client:
            return client.post(path, json=body)

    def post_to_be_cut_off(self, path: str, body: Mapping[str, Any]) -> None:
        """Sends a request whose answer nobody may live to give."""
        with suppress(httpx.TransportError):
            self.post(path, body)

    def kill(self) -> None:
        """Ends the process where it is; what it started is ended with the block it runs in."""
        self.process.kill()
        self.process.wait(30)


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    """Returns the status, the code and the message of an answer that is an error."""
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


@contextmanager
def running(
    weights: Path,
    *words: str,
    environ: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> Generator[Worker]:
    """Starts a worker for the length of a block, and waits for its handshake.

    Args:
        weights: Its folder of weights.
        words: What the interpreter runs, such as `REAL`.
        environ: Variables beside this process's.
        before: A command that becomes the worker: its words come before the interpreter.
    """
    with tempfile.TemporaryDirectory(prefix="rhk") as folder:
        socket = Path(folder) / "w.sock"
        variables = {
            **os.environ,
            "RHAPSODE_WORKER_LISTEN": f"unix:{socket}",
            "RHAPSODE_WORKER_ENGINE": "kokoro",
            "RHAPSODE_WORKER_CONTRACT": "1",
            "RHAPSODE_WORKER_LIFELINE": "stdin",  # ends with these tests, however they end
            "RHAPSODE_WEIGHTS_DIR": str(weights),
            "RHAPSODE_VOICE_DIR": f"{folder}/voices",
            **(environ or {}),
        }
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(
                [*before, sys.executable, *words],
                env=variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, (Path(folder) / "log").read_text()
            assert json.loads(line)["engine"] == "kokoro"
            yield Worker(process, socket)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=30)
