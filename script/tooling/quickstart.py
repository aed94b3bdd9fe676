"""Speaks a text on a machine that has only Python: environment, server, engine, sound."""

import argparse
import json
import os
import signal
import sys
import time
import wave
from pathlib import Path

from commands import ROOT, CommandFailed, fail, run_quietly, say
from environment import prepare
from environments import HIBARI, SERVER
from server import Server, free_port, running

HOME = ROOT / ".quickstart"
"""Config, data and log of this server alone; the user's own are never touched."""

CONFIG = HOME / "rhapsode.toml"
LOG = HOME / "server.log"


def main() -> int:
    """Returns the exit code."""
    options = _options()
    # A termination unwinds like an error, so that the server is stopped on the way out.
    signal.signal(signal.SIGTERM, _end)
    try:
        began = time.monotonic()
        prepare(SERVER)
        prepare(HIBARI, builder=SERVER)
        port = free_port(options.port)
        _write_config(port)
        with running(
            [SERVER.program("rhapsode"), "serve", "--config", CONFIG], port, LOG
        ) as server:
            say(f"  server ready at {server.url}")
            _speak(server, options.text, options.output.resolve())
            say(f"  done in {time.monotonic() - began:.1f} s")
            if options.serve:
                _keep_serving(server)
        say("  server stopped")
    except CommandFailed as error:
        return fail("quickstart", error)
    except KeyboardInterrupt:
        return fail("quickstart", "interrupted; run it again, it goes on where it was")
    return 0


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
    parser.add_argument("--port", type=int, default=8080, help="if taken, a free one is used")
    return parser.parse_args()


def _write_config(port: int) -> None:
    HOME.mkdir(exist_ok=True)
    CONFIG.write_text(
        "# Written by script/quickstart at every run.\n"
        f'[server]\nhost = "127.0.0.1"\nport = {port}\n\n'
        f"[workers]\nvoiceDir = {_toml(HOME / 'voices')}\n\n"
        f"[install]\nvenvDir = {_toml(HOME / 'venvs')}\n\n"
        f"[engines.hibari]\nvenv = {_toml(HIBARI.folder)}\n",
        encoding="utf-8",
    )


def _toml(path: Path) -> str:
    # A JSON string is a TOML string, once nothing outside the basic plane is escaped in halves.
    return json.dumps(str(path), ensure_ascii=False)


def _speak(server: Server, text: str, output: Path) -> None:
    command = [SERVER.program("rhapsode"), "say", "--url", server.url, "--engine", "hibari"]
    run_quietly("speaking", [*command, "--no-stream", "--output", output, "--", text])
    with wave.open(str(output)) as audio:
        seconds = audio.getnframes() / audio.getframerate()
    say(f"  {output}: {seconds:.1f} seconds of speech")


def _keep_serving(server: Server) -> None:
    body = '{"engine": "hibari", "text": "Hello."}'
    say(
        "\n  It goes on serving until Ctrl-C. For example:\n"
        f"    curl {server.url}/engines\n"
        f"    curl {server.url}/engines/hibari/capabilities\n"
        f"    curl {server.url}/speak -H 'Content-Type: application/json' -d '{body}' -o out.wav\n"
        f"  log: {os.path.relpath(LOG)}"
    )
    try:
        code = server.process.wait()
    except KeyboardInterrupt:
        return
    raise CommandFailed(f"the server ended by itself (exit {code}); its log is {LOG}")


if __name__ == "__main__":
    sys.exit(main())
