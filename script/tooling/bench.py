"""Runs the measurements, having first brought together everything they need."""

import sys

from commands import CommandFailed, fail, show
from environment import prepare
from environments import DEVELOPMENT, HIBARI
from machine import FFMPEG, NGINX, need
from weights import fetch_kokoro


def main() -> int:
    """Returns the exit code."""
    try:
        need(FFMPEG, NGINX)
        prepare(DEVELOPMENT)
        prepare(HIBARI, builder=DEVELOPMENT)
        fetch_kokoro()
    except CommandFailed as error:
        return fail("bench", error)
    return show([DEVELOPMENT.python, "-m", "bench", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
