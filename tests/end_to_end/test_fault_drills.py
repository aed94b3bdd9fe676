"""Workers that fail in every moment, and a server that is killed in every moment.

After each: no process, socket, lease, thread or file is left, and the next request speaks.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from .core_process import (
    PATIENCE_SECONDS,
    SOCKETS,
    CoreProcess,
    core,
    is_alive,
    tone,
)
from .drill import children_of, nothing_is_left, post, until, workers_of

TRUNCATED: Final = 18
"""curl's exit status for a body that broke off."""
LONG: Final = "word " * 800
"""Minutes of audio."""
HASTE: Final = "drainGraceMs = 300\n"
UNRULY: Final = Path(__file__).parents[2] / "packages" / "rhapsode" / "tests" / "unruly_worker.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="processes are found in /proc"
    ),
]


def unruly() -> str:
    """Returns the table of an engine that does what the text of a request says."""
    return f'[engines.unruly]\ncommand = ["{sys.executable}", "{UNRULY}"]\n'


def second_tone(*flags: str) -> str:
    """Returns the table of a tone engine of another name: `other`."""
    code = (
        "from rhapsode_engine_tone.engine import ToneEngine; from rhapsode_worker import serve; "
        "serve(type('Other', (ToneEngine,), {'id': 'other'})())"
    )
    return f'[engines.other]\ncommand = ["{sys.executable}", "-c", "{code}"]\n'


def wait_for_change(running: CoreProcess, change: str) -> None:
    """Waits until a worker's process or model changes, such as `unloaded -> loading`."""
    running.wait_for(lambda line: change in line["message"])


def test_a_worker_that_is_killed_at_rest(tmp_path: Path) -> None:
    with core(tmp_path, tone(), HASTE) as running, nothing_is_left(running):
        running.speak()
        running.log.clear()
        os.kill(running_worker(running), signal.SIGKILL)
        wait_for_change(running, "starting -> up")


def running_worker(running: CoreProcess) -> int:
    """Returns the pid of the one worker that runs now."""
    (pid,) = children_of(running.process.pid)
    return pid


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_dies_while_it_speaks(tmp_path: Path, number: int) -> None:
    with (
        core(tmp_path, tone("pace=4"), HASTE) as running,
        nothing_is_left(running, text="Hi."),
        running.curl(text=LONG, stream=True) as curl,
    ):
        assert curl.stdout is not None
        assert len(curl.stdout.read(4096)) == 4096
        os.kill(running_worker(running), number)
        curl.stdout.read()
        assert curl.wait(PATIENCE_SECONDS) == TRUNCATED


def test_a_worker_that_dies_in_a_load(tmp_path: Path) -> None:
    with core(tmp_path, tone("slow-load=1"), HASTE) as running, nothing_is_left(running):
        running.log.clear()
        with running.curl() as curl:
            wait_for_change(running, "unloaded -> loading")
            os.kill(running_worker(running), signal.SIGKILL)
            body, _ = curl.communicate(timeout=PATIENCE_SECONDS)
        assert b'"code":"model_unavailable"' in body


def test_a_worker_that_dies_in_an_unload(tmp_path: Path) -> None:
    asked = {"engine": "unruly", "text": "whole"}
    with core(tmp_path, unruly(), HASTE) as running, nothing_is_left(running, **asked):
        assert running.speak(engine="unruly", text="die-in-unload")[0] == 0
        assert post(running, "/engines/unruly/unload?mode=unload") == 200


def test_a_worker_that_hangs_in_an_unload(tmp_path: Path) -> None:
    asked = {"engine": "unruly", "text": "whole"}
    with core(tmp_path, unruly(), HASTE) as running, nothing_is_left(running, **asked):
        assert running.speak(engine="unruly", text="hang-in-unload")[0] == 0
        assert post(running, "/engines/unruly/unload?mode=unload") == 200
        assert running.get("/engines")[0]["process"] == "down"


def test_a_worker_that_is_stopped_and_has_to_give_its_memory_back(tmp_path: Path) -> None:
    with core(tmp_path, tone(), HASTE) as running, nothing_is_left(running):
        running.speak()
        os.killpg(running_worker(running), signal.SIGSTOP)
        assert post(running, "/engines/tone/unload") == 200


def test_a_worker_that_is_stopped_and_has_to_make_room(tmp_path: Path) -> None:
    engines = tone() + second_tone()
    with core(tmp_path, engines, HASTE) as running, nothing_is_left(running):
        running.speak()
        os.killpg(running_worker(running), signal.SIGSTOP)
        assert running.speak(engine="other")[1][:4] == b"RIFF"


def test_a_worker_that_dies_while_it_is_evicted(tmp_path: Path) -> None:
    engines = tone() + second_tone()
    with (
        core(tmp_path, engines, "drainGraceMs = 60000\n") as running,
        nothing_is_left(running),
    ):
        running.speak()
        pid = running_worker(running)
        os.killpg(pid, signal.SIGSTOP)
        running.log.clear()
        with running.curl(engine="other") as curl:
            wait_for_change(running, "up -> draining")
            os.kill(pid, signal.SIGKILL)
            body, _ = curl.communicate(timeout=PATIENCE_SECONDS)
        assert body.startswith(b"RIFF")
        assert {engine["restarts"] for engine in running.get("/engines")} == {0}


def test_a_worker_that_lets_nobody_in(tmp_path: Path) -> None:
    asked = {"engine": "unruly", "text": "whole"}
    with core(tmp_path, unruly(), HASTE) as running, nothing_is_left(running, **asked):
        assert running.speak(engine="unruly", text="deaf")[0] == 0
        with running.curl(engine="unruly", text="hang") as curl:  # on the last connection
            until(lambda: running.get("/residency")["models"][0]["leases"])
            status, body = running.speak(engine="unruly", text="whole")
            curl.kill()
        assert (status, b'"code":"model_unavailable"' in body) == (0, True)


@pytest.mark.contract("d.crash.failed", "d.health.degraded")
def test_a_worker_that_dies_too_often(tmp_path: Path) -> None:
    settings = "drainGraceMs = 300\nmaxRestarts = 0\n"
    with core(tmp_path, tone() + second_tone(), settings) as running, nothing_is_left(running):
        assert running.get("/health")["status"] == "ok"
        running.speak()
        os.kill(running_worker(running), signal.SIGKILL)
        wait_for_change(running, "down -> failed")
        assert running.get("/health")["status"] == "degraded"
        body = running.speak()[1]
        assert b'"code":"internal"' in body
        assert b"SIGKILL" in body
        assert running.speak(engine="other")[1].startswith(b"RIFF")
        assert post(running, "/engines/tone/unload") == 200
        assert running.get("/health")["status"] == "ok"


def test_a_worker_that_answers_garbage(tmp_path: Path) -> None:
    asked = {"engine": "unruly", "text": "whole"}
    with core(tmp_path, unruly(), HASTE) as running, nothing_is_left(running, **asked):
        assert running.speak(engine="unruly", text="babble")[0] == 0
        assert b'"error"' in running.speak(engine="unruly", text="whole")[1]


NEEDS_MOUNTS = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs to mount a small disk"
)
SMALL_DISK: Final = (
    *("unshare", "--mount", "sh", "-c"),
    'mkdir -p -m 700 "$0" && mount -t tmpfs -o mode=700,nr_inodes=6 none "$0" && exec "$@"',
    str(SOCKETS),
)
"""A disk of its own for the sockets, gone with the server."""


@NEEDS_MOUNTS
def test_no_room_for_a_socket(tmp_path: Path) -> None:
    with core(tmp_path, tone(), HASTE, SMALL_DISK) as running:
        disk = Path(f"/proc/{running.process.pid}/root{SOCKETS}")
        assert running.speak()[1].startswith(b"RIFF")
        assert post(running, "/engines/tone/unload") == 200
        full = fill(disk)
        for _ in range(2):
            _, body = running.speak()
            assert b'"code":"internal"' in body
            assert b"No space left on device" in body
        assert workers_of(running.process.pid) == []
        assert children_of(running.process.pid) == []
        for path in full:
            path.unlink()
        assert running.speak()[1].startswith(b"RIFF")


def fill(disk: Path) -> list[Path]:
    """Leaves room for no file more; returns what has to go again."""
    made: list[Path] = []
    for number in range(100):
        path = disk / str(number)
        try:
            path.touch()
        except OSError:
            return made
        made.append(path)
    raise AssertionError("the disk has no end")


# The server itself.


@pytest.mark.contract("d.life.ends-with-server")
@pytest.mark.parametrize(
    ("flag", "asked", "moment"),
    [
        ("", "/engines/tone/voices", "starting -> up"),
        ("slow-start=2", "/speak", "down -> starting"),
        ("hang-in-load", "/speak", "unloaded -> loading"),
        ("hang-in-speak", "/speak", "loading -> loaded"),
        ("hang-in-unload", "/engines/tone/unload?mode=unload", "loaded -> unloading"),
        ("hang-in-unload", "/engines/tone/unload", "up -> draining"),
    ],
    ids=["rest", "start", "load", "speech", "unload", "eviction"],
)
def test_a_server_that_is_killed_in_every_moment_and_started_again(
    tmp_path: Path, flag: str, asked: str, moment: str
) -> None:
    with core(tmp_path, tone(*filter(None, [flag]))) as running:
        if asked != "/speak":
            assert running.speak()[1].startswith(b"RIFF")
        with curl(running, asked) as asking:
            wait_for_change(running, moment)
            # A worker that has begun to leave may have left.
            until(lambda: workers_of(running.process.pid) or moment.endswith("draining"))
            end_by_force(running)
            asking.wait(PATIENCE_SECONDS)
    assert_starts_again(tmp_path)


def curl(running: CoreProcess, path: str) -> "subprocess.Popen[bytes]":
    """Asks for something, and for speech where that is it."""
    body = {
        "/speak": ["-H", "Content-Type: application/json", "-d", '{"engine":"tone","text":"Hi."}'],
        "/engines/tone/voices": [],
    }
    return subprocess.Popen(
        [
            "curl",
            "-sS",
            "-m",
            str(PATIENCE_SECONDS),
            *body.get(path, ["-d", ""]),
            running.url + path,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.contract("d.life.ends-with-server")
def test_a_server_that_is_killed_in_the_middle_of_a_stream(tmp_path: Path) -> None:
    with (
        core(tmp_path, tone("pace=1")) as running,
        running.curl(text=LONG, stream=True) as curl,
    ):
        assert curl.stdout is not None
        assert len(curl.stdout.read(4096)) == 4096
        end_by_force(running)
        curl.stdout.read()
        assert curl.wait(PATIENCE_SECONDS) == TRUNCATED
    assert_starts_again(tmp_path)


def test_a_server_that_is_killed_before_a_restart(tmp_path: Path) -> None:
    with core(tmp_path, tone()) as running:
        running.speak()
        for change in ("starting -> up", "up -> down"):  # the second restart has to wait
            worker = running_worker(running)
            running.log.clear()
            os.kill(worker, signal.SIGKILL)
            wait_for_change(running, change)
        end_by_force(running)
    assert_starts_again(tmp_path)


@pytest.mark.contract("d.life.ends-with-server")
def test_a_worker_that_hangs_in_an_import_when_its_server_is_killed(tmp_path: Path) -> None:
    package, sign = tmp_path / "hangs", tmp_path / "imports"
    package.mkdir()
    (package / "__main__.py").write_text(
        f"from pathlib import Path; Path({str(sign)!r}).touch(); import signal; signal.pause()",
        encoding="utf-8",
    )
    entry = f'[engines.hangs]\nvenv = "{sys.prefix}"\nmodule = "hangs"\ncwd = "{tmp_path}"\n'
    with (
        core(tmp_path, entry) as running,
        running.curl(engine="hangs") as curl,
    ):
        until(sign.exists)
        end_by_force(running)
        curl.wait(PATIENCE_SECONDS)


def test_a_worker_that_was_stopped_when_its_server_was_killed(tmp_path: Path) -> None:
    """It may not see its lifeline cut: then the next server ends it."""
    with core(tmp_path, tone()) as running:
        running.speak()
        os.killpg(running_worker(running), signal.SIGSTOP)
        running.end(signal.SIGKILL)
    assert_starts_again(tmp_path)
    until(lambda: not workers_of(running.process.pid))


def end_by_force(running: CoreProcess) -> None:
    """Kills the server and sees that no worker survives it."""
    running.end(signal.SIGKILL)
    until(lambda: not workers_of(running.process.pid))


def assert_starts_again(folder: Path) -> None:
    """Sees that a server finds nothing in its way, and puts away what the one before has left."""
    left = list(SOCKETS.glob("core-*"))
    with core(folder, tone(), HASTE) as running:
        assert running.speak()[1].startswith(b"RIFF")
        assert [folder for folder in left if folder.exists() and not is_running(folder)] == []


def is_running(folder: Path) -> bool:
    """Whether the server of a folder lives: another test's."""
    return is_alive(int(folder.name.split("-")[1]))
