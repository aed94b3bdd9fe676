"""Workers that have outlived their core: those that could not see their lifeline cut.

One that is stopped, or whose interpreter is held by a driver, reads nothing; nor does one that is
still importing, which a kernel other than Linux lets go on. The next core ends them, by the address
in their environment.
"""

import logging
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

_PROCESSES: Final = Path("/proc")
_MARK: Final = b"\0RHAPSODE_WORKER_LISTEN=unix:"


def end_orphans(folder: Path) -> None:
    """Kills every process that was given a socket in `folder`, the private one of a core that is
    dead. Does nothing where the platform has no `/proc`.
    """
    mark = _MARK + os.fsencode(folder) + b"/"
    for entry in _PROCESSES.glob("[0-9]*"):
        with suppress(OSError):  # gone meanwhile, or not ours
            _end_if_marked(int(entry.name), mark)


def _end_if_marked(pid: int, mark: bytes) -> None:
    # Held before it is looked at: a number may be another process's a moment later.
    process = os.pidfd_open(pid)
    try:
        if mark in b"\0" + (_PROCESSES / str(pid) / "environ").read_bytes():
            signal.pidfd_send_signal(process, signal.SIGKILL)
            logger.warning("ended process %d, left by a server that was killed", pid)
    finally:
        os.close(process)
