"""The three streams that a process is born with: each may be closed, full or abandoned."""

import os
import sys


def open_missing() -> None:
    """Opens the null device in place of each standard stream that was closed by who started us.

    Called before anything else is opened: the next file or socket would take the free number, and
    be written into by whoever writes to that stream.
    """
    # In this order, because a file takes the lowest number that is free.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Open to the end of the process, so no block holds it.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def put(data: bytes) -> None:
    """Writes to standard output, at once.

    Raises:
        OSError: It can't be written, or (`BrokenPipeError`) nobody reads it any more. What is
            written from then on is lost.
    """
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        _abandon()
        raise OSError(error.errno, error.strerror, "standard output") from None


def _abandon() -> None:
    # What is still buffered would fail once more when the interpreter flushes it at its end.
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())
