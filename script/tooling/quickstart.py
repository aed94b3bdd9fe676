"""Speaks a text on a machine that has only Python: environment, server, engine, sound."""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from commands import CommandFailed, fail, run_quietly, say
from default_engine import ENGINE, ensure_installed
from environment import prepare
from environments import SERVER
from server import Server, is_free, running
from shared_home import LOG, staying, turn, with_log, write_config

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
        with turn() as url:
            if url is None:
                _on_a_server_of_its_own(options, began)
            elif options.serve:
                raise CommandFailed(f"another `script/quickstart --serve` is running, at {url}")
            else:
                say(f"  the server at {url} is running already")
                _speak(url, options, began)
    except CommandFailed as error:
        return fail("quickstart", error)
    except KeyboardInterrupt:
        return fail("quickstart", "interrupted; run it again, it goes on where it was")
    return 0


def _on_a_server_of_its_own(options: argparse.Namespace, began: float) -> None:
    config = write_config(_port(options) if options.serve else 0)
    # The last run's: a failure of this one would point to it.
    LOG.unlink(missing_ok=True)
    try:
        with running([SERVER.program("rhapsode"), "serve", "--config", config], LOG) as server:
            say(f"  server ready at {server.url}")
            if options.text is not None:
                _speak(server.url, options, began)
            else:
                ensure_installed(server.url)
            if options.serve:
                with staying(server.url):
                    _keep_serving(server)
    except CommandFailed as error:
        raise with_log(error) from error
    say("  server stopped")


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
        "the server installs the engine under .quickstart/; later runs only speak.",
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


def _speak(url: str, options: argparse.Namespace, began: float) -> None:
    ensure_installed(url)
    command = [SERVER.program("rhapsode"), "say", "--url", url, "--engine", ENGINE, "--no-stream"]
    output = options.output.absolute()
    told = run_quietly("speaking", [*command, "--output", output, "--", options.text])
    say(f"  {told.strip()}")
    say(f"  done in {time.monotonic() - began:.1f} s")


def _keep_serving(server: Server) -> None:
    body = '{"engine": "hibari", "text": "Hello."}'
    lines = (
        "\n  It goes on serving until Ctrl-C. For example:\n"
        f"    curl {server.url}/engines\n"
        f"    curl {server.url}/engines/hibari/capabilities\n"
        f"    curl {server.url}/speak -H 'Content-Type: application/json' -d '{body}' -o out.wav\n"
        f"  log: {os.path.relpath(LOG)}"
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
