"""Speaks a text on a machine that has only Python: environment, server, engine, sound."""

import argparse
import fcntl
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import wave
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from commands import ROOT, CommandFailed, fail, run_quietly, say
from environment import prepare
from environments import HIBARI, SERVER
from server import Server, is_free, running

HOME = ROOT / ".quickstart"
"""Config, data and log of servers started here; the user's own are never touched."""

PREFERRED_PORT = 8080
"""Of a server that stays, because the documentation's examples have it."""


def main() -> int:
    """Returns the exit code."""
    options = _options()
    # A termination unwinds like an error, so that the server is stopped on the way out.
    signal.signal(signal.SIGTERM, _end)
    try:
        began = time.monotonic()
        prepare(SERVER)
        prepare(HIBARI, builder=SERVER)
        with _folder(options.serve) as folder:
            log = folder / "server.log"
            config = _write_config(folder, options.port if options.serve else 0)
            with running([SERVER.program("rhapsode"), "serve", "--config", config], log) as server:
                say(f"  server ready at {server.url}")
                _speak(server, options.text, options.output.resolve(), log)
                say(f"  done in {time.monotonic() - began:.1f} s")
                if options.serve:
                    _keep_serving(server, log)
            say("  server stopped")
    except CommandFailed as error:
        return fail("quickstart", error)
    except KeyboardInterrupt:
        return fail("quickstart", "interrupted; run it again, it goes on where it was")
    return 0


@contextmanager
def _folder(stays: bool) -> Generator[Path]:
    """Gives a server a folder for its config and log: `HOME` if it stays, else one of its own.

    Raises:
        CommandFailed: One that stays is running already.
    """
    HOME.mkdir(exist_ok=True)
    if not stays:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=HOME))
        yield folder
        # Only now: the log of a run that failed is worth a look.
        shutil.rmtree(folder)
        return
    with (HOME / "serving.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandFailed("another `script/quickstart --serve` is running here") from None
        yield HOME


def _end(signal_number: int, _frame: object) -> None:
    sys.exit(128 + signal_number)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="script/quickstart",
        description="Speaks a text into a WAV file. The first run makes .venv and the engine's "
        "own environment under .quickstart/; later runs only speak.",
    )
    parser.add_argument("text", nargs="?", default="Hello. This is Rhapsode speaking.")
    parser.add_argument("-o", "--output", type=Path, default=Path("hello.wav"), metavar="FILE")
    parser.add_argument("--serve", action="store_true", help="leave the server running")
    parser.add_argument(
        "--port", type=int, default=PREFERRED_PORT, help="with --serve; if taken, a free one"
    )
    return parser.parse_args()


def _write_config(folder: Path, port: int) -> Path:
    """Writes the server's config; port 0, or one that is taken, is any free one."""
    config = folder / "rhapsode.toml"
    config.write_text(
        "# Written by script/quickstart at every run.\n"
        f'[server]\nhost = "127.0.0.1"\nport = {port if is_free(port) else 0}\n\n'
        f"[workers]\nvoiceDir = {_toml(HOME / 'voices')}\n\n"
        f"[install]\nvenvDir = {_toml(HOME / 'venvs')}\n\n"
        f"[engines.hibari]\nvenv = {_toml(HIBARI.folder)}\n",
        encoding="utf-8",
    )
    return config


def _toml(path: Path) -> str:
    # A JSON string is a TOML string, once nothing outside the basic plane is escaped in halves.
    return json.dumps(str(path), ensure_ascii=False)


def _speak(server: Server, text: str, output: Path, log: Path) -> None:
    command = [SERVER.program("rhapsode"), "say", "--url", server.url, "--engine", "hibari"]
    try:
        run_quietly("speaking", [*command, "--no-stream", "--output", output, "--", text])
    except CommandFailed as error:
        raise CommandFailed(f"{error}\n    (the server's log: {log})") from error
    with wave.open(str(output)) as audio:
        seconds = audio.getnframes() / audio.getframerate()
    say(f"  {output}: {seconds:.1f} seconds of speech")


def _keep_serving(server: Server, log: Path) -> None:
    body = '{"engine": "hibari", "text": "Hello."}'
    say(
        "\n  It goes on serving until Ctrl-C. For example:\n"
        f"    curl {server.url}/engines\n"
        f"    curl {server.url}/engines/hibari/capabilities\n"
        f"    curl {server.url}/speak -H 'Content-Type: application/json' -d '{body}' -o out.wav\n"
        f"  log: {os.path.relpath(log)}"
    )
    try:
        code = server.process.wait()
    except KeyboardInterrupt:
        return
    raise CommandFailed(f"the server ended by itself (exit {code}); its log is {log}")


if __name__ == "__main__":
    sys.exit(main())
