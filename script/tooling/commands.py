"""Commands that our tools run: quiet when they work, told in full when they fail."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

_SHOWN_LINES = 20


class CommandFailed(Exception):
    """A command of ours ended badly; the message is for the person at the terminal."""


def say(line: str) -> None:
    """Prints a line at once, also into a pipe."""
    print(line, flush=True)


def run_quietly(doing: str, command: Sequence[str | Path]) -> str:
    """Runs a command in the checkout; returns its output, which is shown only if it fails.

    Args:
        doing: What it is for, to say what failed, such as "installing hibari".
        command: The program and its arguments.

    Raises:
        CommandFailed: It could not start or exited non-zero; the last lines are in the message.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=ROOT,
            env=quiet_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        raise CommandFailed(f"{doing} failed: {error}") from error
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        raise CommandFailed(
            f"{doing} failed (exit {done.returncode}):\n"
            f"    $ {shlex.join(words)}\n{last_lines(output)}"
        )
    return output


def show(command: Sequence[str | Path], extra: Mapping[str, str] | None = None) -> int:
    """Runs a command in the checkout with its output on the terminal; returns its exit code."""
    words = [str(word) for word in command]
    return subprocess.run(
        words, cwd=ROOT, env=quiet_environment() | dict(extra or {}), check=False
    ).returncode


def last_lines(output: str) -> str:
    """Returns the end of a command's output, indented."""
    lines = [line for line in output.splitlines() if line.strip()]
    return "\n".join(f"    | {line}" for line in lines[-_SHOWN_LINES:])


def quiet_environment() -> dict[str, str]:
    """Returns our environment without what would mix another Python's packages into ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    kept.pop("VIRTUAL_ENV", None)
    # uv trusts a list of its own unless told; pip and the rest of the machine trust the machine's.
    kept.setdefault("UV_SYSTEM_CERTS", "1")
    return kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def fail(tool: str, error: Exception | str) -> int:
    """Says on stderr why a tool gave up; returns the exit code to end with."""
    print(f"\nscript/{tool}: {error}", file=sys.stderr, flush=True)
    return 1
