"""Runs the tests, having first brought together everything they need."""

import sys

from commands import CommandFailed, fail, show
from environment import prepare
from environments import DEVELOPMENT, HIBARI, RECOGNISER
from machine import CURL, FFMPEG, GIT, need
from weights import fetch_kokoro

ALL = "not soak and not gpu"
FAST = "not slow and not soak and not gpu"


def main() -> int:
    """Returns the exit code."""
    words = sys.argv[1:]
    is_fast = "--fast" in words
    chosen = [word for word in words if word != "--fast"]
    try:
        need(FFMPEG, CURL, GIT)
        prepare(DEVELOPMENT)
        prepare(HIBARI, builder=DEVELOPMENT)
        if not is_fast:
            prepare(RECOGNISER)
            fetch_kokoro()
    except CommandFailed as error:
        return fail("test", error)
    # A file at a time to each core: what its tests share is made once. In the order of ours, slow
    # ones first: the plugin's own begins with the files of most tests, which are quick ones.
    pytest = [DEVELOPMENT.python, "-m", "pytest", "-n", "auto", "--dist", "loadfile"]
    pytest += ["--no-loadscope-reorder", "-m", FAST if is_fast else ALL]
    return show([*pytest, *chosen])


if __name__ == "__main__":
    sys.exit(main())
