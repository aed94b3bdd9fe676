"""`rhapsode serve` as a process, with its log at hand, for tests that end it in every way."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

RHAPSODE: Final = Path(sys.executable).with_name("rhapsode")
PATIENCE_SECONDS: Final = 15
SOCKETS: Final = Path(tempfile.gettempdir()) / f"rh-{os.getuid()}"
"""Where each server makes a folder of its own; short, as the path of a socket has to be."""
_URL: Final = re.compile(r"http://[^\s,]+")


@dataclass
class CoreProcess:
    """A running server and what it has said."""

    process: "subprocess.Popen[str]"
    url: str = ""
    greeting: str = ""
    log: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    said: threading.Condition = field(default_factory=threading.Condition)

    def listen(self) -> None:
        """Keeps the log until the process closes it. Runs on a thread of its own."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self.said:
                self.log.append(json.loads(line) if line.startswith("{") else {"message": line})
                self.said.notify_all()

    def wait_for(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Returns the first log line of this kind, waiting for it if need be."""
        with self.said:
            found = self.said.wait_for(
                lambda: next((line for line in self.log if is_it(line)), None), PATIENCE_SECONDS
            )
        assert found is not None, self.log
        return found

    def get(self, path: str) -> Any:
        """Returns a JSON answer."""
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)

    def curl(self, *arguments: str, **asked: Any) -> "subprocess.Popen[bytes]":
        """Starts curl on `/speak`; what it says and the body go to pipes."""
        command = ["curl", "-sS", "--no-buffer", "-H", "Content-Type: application/json"]
        body = {"engine": "tone", "text": "Hello there."} | asked
        return subprocess.Popen(
            [*command, *arguments, "-d", json.dumps(body), f"{self.url}/speak"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def speak(self, *arguments: str, **asked: Any) -> tuple[int, bytes]:
        """Returns curl's exit status and the body."""
        with self.curl(*arguments, **asked) as curl:
            body, _ = curl.communicate(timeout=PATIENCE_SECONDS)
        return curl.returncode, body

    def end(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal and returns the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def core(
    folder: Path, engines: str, settings: str = "", before: Sequence[str] = ()
) -> Generator[CoreProcess]:
    """Runs a server for the length of a block; it is told to end with the block.

    Args:
        folder: For the config and all that it names.
        engines: The `[engines.…]` tables of the config.
        settings: Other tables; `[server]` and `[workers]` are here already.
        before: Words of a command that becomes the server.
    """
    process = start(folder, engines, settings, before)
    running = CoreProcess(process)
    listener = threading.Thread(target=running.listen)
    listener.start()
    try:
        assert process.stdout is not None
        running.greeting = process.stdout.readline()
        found = _URL.search(running.greeting)
        assert found is not None, running.log
        running.url = found[0]
        yield running
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE_SECONDS)
        listener.join(PATIENCE_SECONDS)
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        process.stderr.close()


def start(
    folder: Path, engines: str = "", settings: str = "", before: Sequence[str] = ()
) -> "subprocess.Popen[str]":
    """Starts a server on a free port, or on the one that `settings` names."""
    port = "" if "[server]" in settings else '[server]\nhost = "127.0.0.1"\nport = 0\n'
    config = folder / "rhapsode.toml"
    config.write_text(
        f'{port}[workers]\nsocketDir = "{SOCKETS}"\nvoiceDir = "voices"\n{settings}\n{engines}',
        encoding="utf-8",
    )
    return subprocess.Popen(
        [*before, RHAPSODE, "serve", "--config", config],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def tone(*flags: str) -> str:
    """Returns the table of the engine that plays tones, misbehaving as told."""
    env = f'env = {{ RHAPSODE_TONE_MISBEHAVE = "{",".join(flags)}" }}\n' if flags else ""
    return f'[engines.tone]\nvenv = "{sys.prefix}"\n{env}'


def process_of(running: CoreProcess) -> int:
    """Returns the pid of the one worker, from the server's log."""
    return int(running.wait_for(lambda line: "pid" in line)["pid"])


def is_alive(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
