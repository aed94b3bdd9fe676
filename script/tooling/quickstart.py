"""Speaks a text on a machine that has only Python: environment, server, engine, sound."""

import argparse
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from commands import ROOT, CommandFailed, fail, run_quietly, say
from environment import prepare
from environments import HIBARI, SERVER
from run_folder import LOG, run_folder, with_log
from server import Server, is_free, running

HOME = ROOT / ".quickstart"
"""Config, data and log of servers started here; the user's own are never touched."""

PREFERRED_PORT = 8080
"""Of a server that stays, because the documentation's examples have it."""

DEFAULT_TEXT = "Hello. This is Rhapsode speaking."
DEFAULT_OUTPUT = Path("hello.wav")


def main() -> int:
    """Returns the exit code."""
    options = _options()
    _end_tidily()
    try:
        began = time.monotonic()
        prepare(SERVER)
        prepare(HIBARI, builder=SERVER)
        with _folder(options.serve) as folder:
            config = _write_config(folder, _port(options) if options.serve else 0)
            command = [SERVER.program("rhapsode"), "serve", "--config", config]
            with running(command, folder / LOG) as server:
                say(f"  server ready at {server.url}")
                if options.text is not None:
                    _speak(server, options.text, options.output.absolute())
                    say(f"  done in {time.monotonic() - began:.1f} s")
                if options.serve:
                    _keep_serving(server, folder / LOG)
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
        with run_folder(HOME) as folder:
            yield folder
        return
    with (HOME / "serving.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandFailed("another `script/quickstart --serve` is running here") from None
        # The last run's: a failure of this one would point to it.
        (HOME / LOG).unlink(missing_ok=True)
        try:
            yield HOME
        except CommandFailed as error:
            raise with_log(error, HOME / LOG) from error


def _end_tidily() -> None:
    """Makes a termination unwind like an error, so that the server is stopped on the way out."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Who ignores one, as nohup does, is to go on.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(signal_number: int, _frame: object) -> None:
    sys.exit(128 + signal_number)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="script/quickstart",
        description="Speaks a text into a file, or runs a server. The first run makes .venv and "
        "the engine's own environment under .quickstart/; later runs only speak.",
    )
    parser.add_argument("text", nargs="?", help=f'what to say, if not "{DEFAULT_TEXT}"')
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help=f"where the speech goes, if not to {DEFAULT_OUTPUT} here; it is replaced if it is "
        "there, and its ending says the format: .wav, .mp3, .opus, .flac",
    )
    parser.add_argument(
        "--serve",
        action="store_true",
        help="run a server until Ctrl-C; it speaks only if TEXT or FILE is given",
    )
    parser.add_argument(
        "--port",
        type=_a_port,
        help=f"of --serve; where it is left out and {PREFERRED_PORT} is taken, any free one",
    )
    options = parser.parse_args()
    if options.port is not None and not options.serve:
        parser.error("--port goes with --serve")
    if options.output == Path("-"):
        parser.error("-o takes a file; `rhapsode say -o -` writes to standard output")
    if not options.serve or options.output is not None:
        options.text = DEFAULT_TEXT if options.text is None else options.text
    options.output = options.output or DEFAULT_OUTPUT
    return options


def _a_port(text: str) -> int:
    if text.isdecimal() and int(text) < 2**16:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; they go from 0, any free one, to 65535")


def _port(options: argparse.Namespace) -> int:
    """Returns the port of a server that stays, 0 for any free one."""
    if options.port is not None:
        return options.port  # the server says so if it is taken
    if is_free(PREFERRED_PORT):
        return PREFERRED_PORT
    say(f"  port {PREFERRED_PORT} is taken; this server gets another one")
    return 0


def _write_config(folder: Path, port: int) -> Path:
    config = folder / "rhapsode.toml"
    config.write_text(
        "# Written by script/quickstart at every run.\n"
        f'[server]\nhost = "127.0.0.1"\nport = {port}\n\n'
        f"[workers]\nvoiceDir = {_toml(HOME / 'voices')}\n\n"
        f"[install]\nvenvDir = {_toml(HOME / 'venvs')}\n\n"
        f"[engines.hibari]\nvenv = {_toml(HIBARI.folder)}\n",
        encoding="utf-8",
    )
    return config


def _toml(path: Path) -> str:
    # A JSON string is a TOML string, once nothing outside the basic plane is escaped in halves.
    return json.dumps(str(path), ensure_ascii=False)


def _speak(server: Server, text: str, output: Path) -> None:
    command = [SERVER.program("rhapsode"), "say", "--url", server.url, "--engine", "hibari"]
    told = run_quietly("speaking", [*command, "--no-stream", "--output", output, "--", text])
    say(f"  {told.strip()}")


def _keep_serving(server: Server, log: Path) -> None:
    body = '{"engine": "hibari", "text": "Hello."}'
    lines = (
        "\n  It goes on serving until Ctrl-C. For example:\n"
        f"    curl {server.url}/engines\n"
        f"    curl {server.url}/engines/hibari/capabilities\n"
        f"    curl {server.url}/speak -H 'Content-Type: application/json' -d '{body}' -o out.wav\n"
        f"  log: {os.path.relpath(log)}"
    )
    try:
        # In here, because who reads that Ctrl-C ends it may be quick.
        say(lines)
        code = server.process.wait()
    except KeyboardInterrupt:
        return
    raise CommandFailed(f"the server ended by itself (exit {code})")


if __name__ == "__main__":
    sys.exit(main())
