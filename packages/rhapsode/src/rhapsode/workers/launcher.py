"""Runs a command that is not ours so that it ends when the core does.

Started as a script of its own, by path and with nothing of ours imported, as the leader of a
process group. Standard input is the lifeline: the core holds its other end, and at end-of-file,
whatever ended the core, the whole group is killed. SIGTERM goes on to the command; the command's
end is the launcher's.

Only the standard library, and little of it: this runs before every start of such a worker.
"""

import os
import signal
import subprocess
import sys
import threading

_LIFELINE = "RHAPSODE_WORKER_LIFELINE"


def main(words: list[str]) -> int:
    """Runs `words` until it ends or the lifeline is cut. Returns its exit status."""
    # The lifeline is ours: a command built on our SDK would find it cut at once.
    os.unsetenv(_LIFELINE)
    try:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.stderr.write(f"cannot run {words[0]!r}: {error.strerror}\n")
        return 127
    signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
    threading.Thread(target=_hold_lifeline, daemon=True).start()
    status = child.wait()
    if status < 0:
        # The core tells a command that was killed from one that gave up.
        if -status == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _hold_lifeline() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass  # a broken pipe is a cut lifeline too
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
