"""Runs a worker's module so that it ends when the core does, from its first import on.

Started by path, in the interpreter of the worker's virtualenv, with nothing of ours imported: what
runs then is what `python -m` runs. Standard input is the lifeline: the core holds its other end,
and at end-of-file, whatever ended the core, the whole process group is killed. The SDK would hold
it from `serve()` on only; imports come before that and may take minutes, or hang.
"""

import _thread
import os
import runpy
import signal
import sys

_LIFELINE = "RHAPSODE_WORKER_LIFELINE"


def main(module: str) -> None:
    """Becomes `module`."""
    os.environ.pop(_LIFELINE, None)  # noqa: TID251  # held here, and by nobody again
    _thread.start_new_thread(_hold_lifeline, ())
    sys.argv[1:] = []
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = (
            os.getcwd()
        )  # as `python -m` has it: this file's folder is no place for imports
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _hold_lifeline() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass  # a broken pipe is a cut lifeline too
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1])
