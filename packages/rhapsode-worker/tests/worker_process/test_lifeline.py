"""The lifeline takes over from what a core on Linux has set for the time before it is held."""

import subprocess
import sys

import pytest

TIED = """
import ctypes, signal
prctl, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG = ctypes.CDLL(None).prctl, 1, 2
prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
from rhapsode_worker.lifeline import hold_lifeline
hold_lifeline()
now = ctypes.c_int(-1)
prctl(PR_GET_PDEATHSIG, ctypes.byref(now))
print(now.value, flush=True)
signal.pause()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_parents_end_is_no_signal_any_more_once_the_lifeline_is_held() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TIED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        assert worker.stdin is not None and worker.stdout is not None
        # It would end the process alone, and leave what an engine runs beside itself.
        assert worker.stdout.readline() == b"0\n"
        worker.stdin.close()
        assert worker.wait(20) < 0
