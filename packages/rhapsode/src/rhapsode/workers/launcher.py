"""Runs a command that is not ours so that it ends when the core does.

Started as a script of its own, by path and with nothing of ours imported, as the leader of a
process group. Standard input is the lifeline: the core holds its other end, and at end-of-file,
whatever ended the core, the whole group is killed. SIGTERM goes on to the command; the command's
end is the launcher's.

Only the standard library, and little of it, since this runs before every start of such a worker:
`subprocess` and `threading` would double what that takes.
"""

import _thread
import os
import signal
import sys

_LIFELINE = "RHAPSODE_WORKER_LIFELINE"


def main(words: list[str]) -> int:
    """Runs `words` until it ends or the lifeline is cut. Returns its exit status."""
    _close_what_is_not_ours()
    try:
        child = _spawn(words)
    except OSError as error:
        sys.stderr.write(f"cannot run {words[0]!r}: {error.strerror}\n")
        return 127
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    _thread.start_new_thread(_hold_lifeline, ())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        # The core tells a command that was killed from one that gave up.
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)  # Python takes or ignores some
        os.kill(os.getpid(), -status)
    return status


def _close_what_is_not_ours() -> None:
    """Closes what the core's loop leaves open here, which is no business of the command's.

    One by one: up to the highest there may be is a thousand million in some containers.
    """
    for name in os.listdir("/dev/fd"):
        if int(name) > sys.stderr.fileno():
            os.closerange(int(name), int(name) + 1)  # that of the list itself is closed by now


def _spawn(words: list[str]) -> int:
    environment = dict(os.environ)  # noqa: TID251  # what the core made for the command
    # The lifeline is ours: a command built on our SDK would find it cut at once.
    environment.pop(_LIFELINE, None)
    return os.posix_spawnp(
        words[0],
        words,
        environment,
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
        # Python ignores these two, and what is ignored stays so.
        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
    )


def _hold_lifeline() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass  # a broken pipe is a cut lifeline too
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
