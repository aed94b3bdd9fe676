"""Runs a worker's module so that it ends when the core does, from its first import on.

Started by path, in the interpreter of the worker's virtualenv, with nothing of ours imported: what
runs then is what `python -m` runs. Standard input is the lifeline: the core holds its other end,
and at end-of-file, whatever ended the core, the whole process group is killed. The SDK holds it
too, but from `serve()` on only; imports come before that and may take minutes, or hang.
"""

import _thread
import importlib.util
import os
import select
import signal
import sys
import types
from importlib.machinery import ModuleSpec


def main(name: str) -> None:
    """Becomes the module of this name, or the `__main__` of the package."""
    # A signal is for the module, which may have blocked it: none goes to a thread it never made.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    _thread.start_new_thread(_hold_lifeline, (os.dup(0),))
    signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
    if not getattr(sys.flags, "safe_path", False):
        # As `python -m` has it: the folder of this file is no place for imports.
        sys.path[0] = os.getcwd()
    spec, code = _found(name)
    sys.argv = [spec.origin or name]
    ours = sys.modules["__main__"]  # its globals are the thread's
    sys.modules["__main__"] = theirs = types.ModuleType("__main__")
    vars(theirs).update(
        __builtins__=vars(ours)["__builtins__"],
        __file__=spec.origin,
        __cached__=spec.cached,
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
    )
    exec(code, vars(theirs))  # as the interpreter itself does


def _found(name: str) -> "tuple[ModuleSpec, types.CodeType]":
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        # Else it is something that a package above it needs, and the traceback says who.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    get_code = getattr(spec and spec.loader, "get_code", None)
    code = get_code(spec.name) if spec is not None and get_code is not None else None
    if spec is None or code is None:
        sys.exit(f"{sys.executable}: No module named {name}")
    return spec, code


def _hold_lifeline(lifeline: int) -> None:
    while True:
        try:
            select.select([lifeline], [], [])  # where the module lets reads return at once
            if not os.read(lifeline, 4096):
                break
        except BlockingIOError:
            continue
        except OSError:
            break  # a broken pipe is a cut lifeline too
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1])
