"""Standard output belongs to the handshake; whatever else is printed becomes log lines."""

import logging
import os
import sys
import threading
from typing import Final

logger = logging.getLogger("stdout")

_STDOUT: Final = 1
_LINE_LIMIT_BYTES: Final = 16 * 1024


class HandshakeStream:
    """The worker's real standard output, kept for one line."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, line: bytes) -> None:
        """Prints the line and closes the stream: nothing follows it, ever (contract § 2)."""
        os.write(self._descriptor, line + b"\n")
        os.close(self._descriptor)


def capture_stdout() -> HandshakeStream:
    """Takes file descriptor 1 away from everybody: Python, libraries and child processes.

    What is printed from now on, by `print` or by a library's own code, is logged line by line.
    """
    real = os.dup(_STDOUT)
    os.set_inheritable(real, False)
    reader, writer = os.pipe()
    os.dup2(writer, _STDOUT)
    os.close(writer)
    # What was printed while the adapter was imported still waits in Python's buffer, and is
    # logged too.
    sys.stdout.flush()
    # A line at a time, so that it is in the log when it was printed.
    sys.stdout = open(  # noqa: SIM115  # it lives as long as the process
        _STDOUT, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False
    )
    threading.Thread(target=_log_lines, args=(reader,), name="stdout", daemon=True).start()
    return HandshakeStream(real)


def _log_lines(reader: int) -> None:
    """Logs what arrives until the last writer is gone; a line without end is cut."""
    rest = b""
    while piece := os.read(reader, 64 * 1024):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _LINE_LIMIT_BYTES:
            lines, rest = [*lines, rest], b""
        for line in lines:
            if line.strip():
                logger.info("%s", line.decode(errors="replace").rstrip())
