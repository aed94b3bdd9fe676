"""The runner of a worker's module, beside `python -m`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import rhapsode.workers

RUNNER = Path(rhapsode.workers.__file__).with_name("module.py")

TELLS = """
import json, os, sys
spec = sys.modules["__main__"].__spec__
print(json.dumps({
    "name": __name__, "main": spec.name, "argv": sys.argv, "package": __package__,
    "path": [place for place in sys.path if not place.endswith("-packages")],
    "lifeline": os.environ.get("RHAPSODE_WORKER_LIFELINE"),
}))
raise SystemExit(7)
"""

HANGS = """
import os, signal, subprocess, sys
held = "import signal; print('there', flush=True); signal.pause()"
subprocess.Popen([sys.executable, "-c", held])
signal.pause()
"""
"""An import that never ends, and has started a process of its own."""

PICKLES = """
import atexit, pickle
class C: pass
atexit.register(lambda: print(pickle.dumps(C)))
"""

POLLS = """
import os, signal
os.set_blocking(0, False)
print("there", flush=True)
signal.sigtimedwait([], 0.3)
print("still there", flush=True)
signal.pause()
"""
"""Asks for nothing, and goes on for as long as it would take to be ended."""


BLOCKS = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
os.kill(os.getpid(), signal.SIGTERM)
print(signal.sigtimedwait({signal.SIGTERM}, 20).si_signo, flush=True)
"""


@contextmanager
def running(
    folder: Path, *words: str, environ: dict[str, str] | None = None
) -> "Generator[subprocess.Popen[bytes]]":
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "RHAPSODE_WORKER_LIFELINE": "stdin", **(environ or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def told(folder: Path, *words: str, environ: dict[str, str]) -> dict[str, object]:
    with running(folder, *words, environ=environ) as process:
        assert process.stdout is not None
        answer = json.loads(process.stdout.read())
        assert process.wait(20) == 7
    return answer


@pytest.mark.parametrize("safe_path", ["", "1"])
@pytest.mark.parametrize("is_package", [False, True])
def test_what_runs_is_what_python_m_runs(
    tmp_path: Path, *, is_package: bool, safe_path: str
) -> None:
    # Where the folder is not on the path by itself, it is found like this.
    environ = {"PYTHONSAFEPATH": safe_path, "PYTHONPATH": str(tmp_path)}
    file = tmp_path / ("tells/__main__.py" if is_package else "tells.py")
    file.parent.mkdir(exist_ok=True)
    file.write_text(TELLS, encoding="utf-8")
    ours = told(tmp_path, str(RUNNER), "tells", environ=environ)
    theirs = told(tmp_path, "-m", "tells", environ=environ)
    # The variable too: a module that executes another program in its place needs it there.
    assert ours == theirs
    assert ours["lifeline"] == "stdin"


def test_what_the_module_defines_stays_the_main_module_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "pickles.py").write_text(PICKLES, encoding="utf-8")
    with running(tmp_path, str(RUNNER), "pickles") as process:
        assert process.stdout is not None
        assert b"C" in process.stdout.read()
        assert process.wait(20) == 0


def test_a_standard_input_that_does_not_block_is_no_lifeline_that_is_cut(tmp_path: Path) -> None:
    (tmp_path / "polls.py").write_text(POLLS, encoding="utf-8")
    with running(tmp_path, str(RUNNER), "polls") as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        process.stdin.write(b"x")
        process.stdin.flush()
        assert process.stdout.readline() == b"still there\n"


def test_a_signal_that_the_module_has_blocked_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text(BLOCKS, encoding="utf-8")
    with running(tmp_path, str(RUNNER), "blocks") as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"15\n"
        assert process.wait(20) == 0


@pytest.mark.contract("d.life.ends-with-server")
def test_the_end_of_the_lifeline_ends_an_import_and_what_it_has_started(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(HANGS, encoding="utf-8")
    with running(tmp_path, str(RUNNER), "hangs") as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        process.stdin.close()
        assert process.wait(20) == -signal.SIGKILL
        # The pipe ends when its last holder is gone: the process that the import had started.
        assert process.stdout.read() == b""


@pytest.mark.parametrize("name", ["nowhere", "nowhere.to.be_found", "json.nowhere"])
def test_a_module_that_is_not_there_is_said_so_in_a_line(tmp_path: Path, name: str) -> None:
    with running(tmp_path, str(RUNNER), name) as process:
        assert process.stderr is not None
        words = process.stderr.read().decode()
        assert words == f"{sys.executable}: No module named {name}\n"
        assert process.wait(20) == 1


def test_what_a_package_needs_and_lacks_is_told_from_a_module_that_is_not_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "lacks").mkdir()
    (tmp_path / "lacks" / "__init__.py").write_text("import nowhere", encoding="utf-8")
    with running(tmp_path, str(RUNNER), "lacks") as process:
        assert process.stderr is not None
        words = process.stderr.read().decode()
        assert "lacks/__init__.py" in words and "No module named 'nowhere'" in words
        assert process.wait(20) == 1
