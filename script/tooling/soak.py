"""Runs the tests that take minutes."""

import sys

from commands import CommandFailed, fail, say, show
from environment import prepare
from environments import DEVELOPMENT, HIBARI
from machine import CURL, FFMPEG, need
from weights import fetch_kokoro

NOTHING_TO_RUN = 5
"""What pytest ends with where no test was chosen."""


def main() -> int:
    """Returns the exit code."""
    try:
        need(FFMPEG, CURL)
        prepare(DEVELOPMENT)
        prepare(HIBARI, builder=DEVELOPMENT)
        fetch_kokoro()
    except CommandFailed as error:
        return fail("soak", error)
    pytest = [DEVELOPMENT.python, "-m", "pytest", "-m", "soak", "--timeout", "0"]
    code = show([*pytest, *sys.argv[1:]])
    if code == NOTHING_TO_RUN:
        say("No test is marked `soak` yet.")
        return 0
    return code


if __name__ == "__main__":
    sys.exit(main())
