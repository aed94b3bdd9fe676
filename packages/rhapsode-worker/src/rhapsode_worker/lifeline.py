"""The pipe whose end means that the core is gone, and that this worker goes with it."""

import os
import signal
import sys
import threading
from typing import Final

_STDIN: Final = 0
_PR_SET_PDEATHSIG: Final = 1


def hold_lifeline() -> None:
    """From now on the end of standard input ends this process, and its group if it leads it.

    The core holds the other end and never writes; however the core ends, the kernel closes it.
    No drain: nobody is left to listen. Called on the main thread.
    """
    threading.Thread(target=_wait_for_the_end, name="lifeline", daemon=True).start()
    _untie()


def _untie() -> None:
    """Gives back the parent-death signal that a core may have set for the time of our imports.

    It would end this process alone, and sooner than the lifeline ends its whole group; and it fires
    when the thread that has spawned us ends, though the core lives on.
    """
    if sys.platform != "linux":
        return
    try:
        import ctypes

        # It is the main thread's, which was this process when it was set.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # an interpreter without it, which keeps the tie


def _wait_for_the_end() -> None:
    try:
        while os.read(_STDIN, 4096):
            pass
    except OSError:
        pass  # a broken pipe is a cut lifeline too
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
