"""The pipe whose end means that the core is gone, and that this worker goes with it."""

import os
import signal
import threading
from typing import Final

_STDIN: Final = 0


def hold_lifeline() -> None:
    """From now on the end of standard input ends this process, and its group if it leads it.

    The core holds the other end and never writes; however the core ends, the kernel closes it.
    No drain: nobody is left to listen.
    """
    threading.Thread(target=_wait_for_the_end, name="lifeline", daemon=True).start()


def _wait_for_the_end() -> None:
    try:
        while os.read(_STDIN, 4096):
            pass
    except OSError:
        pass  # a broken pipe is a cut lifeline too
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
