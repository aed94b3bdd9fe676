"""Becomes a worker made with our SDK, which ends with the core before it reads its lifeline too.

Started as a script of its own, by path and with nothing of ours imported. The lifeline is held from
`serve()` on; imports come before that and may take minutes, or hang. Until then the kernel ends the
process when the core goes: what is asked of it here outlives the exec, and the SDK takes it back
once the lifeline is held, which ends the process's children as well.

Only the standard library, and little of it: this runs before every start of such a worker.
"""

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(core: int, words: list[str]) -> int:
    """Becomes `words`, tied to the process `core`. Returns an exit status where it cannot."""
    _tie()
    if os.getppid() != core:
        return 1  # it went before we were tied to it
    try:
        os.execv(words[0], words)
    except OSError as error:
        sys.stderr.write(f"cannot run {words[0]}: {error.strerror}\n")
        return 127


def _tie() -> None:
    """Has the kernel kill this process when its parent ends; nothing happens off Linux."""
    if sys.platform != "linux":
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # an interpreter without it; the next core ends what is left


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
