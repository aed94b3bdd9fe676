"""How the server, its workers and its clients end, in every order."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from .core_process import (
    PATIENCE_SECONDS,
    RHAPSODE,
    SOCKETS,
    core,
    is_alive,
    process_of,
    start,
    tone,
)
from .drill import until

pytestmark = pytest.mark.slow

TRUNCATED = 18
"""curl's exit status for a body that broke off."""

LONG = "word " * 800
"""Minutes of audio."""


def until_gone(*pids: int) -> None:
    """Waits for processes that are nobody's children here."""
    tick = threading.Event()
    for _ in range(PATIENCE_SECONDS * 20):
        if not any(map(is_alive, pids)):
            return
        tick.wait(0.05)  # nobody tells us of somebody else's child
    raise AssertionError(f"still there: {[pid for pid in pids if is_alive(pid)]}")


@pytest.mark.contract("6.abort.server", "d.stream.abort")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_is_killed_mid_stream_truncates_the_body_and_is_replaced(
    tmp_path: Path, number: int
) -> None:
    with core(tmp_path, tone("pace=1")) as running:
        with running.curl(text=LONG, stream=True) as curl:
            assert curl.stdout is not None
            assert len(curl.stdout.read(4096)) == 4096
            pid = process_of(running)
            os.kill(pid, number)
            curl.stdout.read()
            assert curl.wait(PATIENCE_SECONDS) == TRUNCATED
        running.log.clear()
        status, body = running.speak(text="Hi.")
        assert (status, body[:4]) == (0, b"RIFF")
        assert process_of(running) != pid
        summary = running.get("/engines")[0]
        assert summary["restarts"] == 1
        assert signal.Signals(number).name in summary["lastError"]


@pytest.mark.contract("6.buffer.errors", "6.errors.model-unavailable")
def test_a_worker_that_is_killed_in_a_buffered_answer_is_an_envelope(tmp_path: Path) -> None:
    with core(tmp_path, tone("die-mid-stream=0.5")) as running:
        status, body = running.speak("-w", "%{http_code}", text=LONG)
    assert status == 0
    assert b'"code":"model_unavailable"' in body
    assert b'"retryable":true' in body
    assert body.endswith(b"503")


@pytest.mark.contract("d.queue.hang-up")
def test_a_client_that_leaves_stops_the_engine_and_the_next_one_is_served(tmp_path: Path) -> None:
    with core(tmp_path, tone("pace=1")) as running:
        with running.curl(text=LONG, stream=True) as curl:
            assert curl.stdout is not None
            curl.stdout.read(1024)
            curl.kill()
        line = running.wait_for(lambda line: line["message"].startswith("stopped after"))
        assert line["engine"] == "tone"
        assert line["requestId"]
        assert running.speak(text="Hi.")[0] == 0
        assert not [line for line in running.log if line.get("level") in {"warning", "error"}]


def test_a_client_that_leaves_a_buffered_answer_stops_the_engine_too(tmp_path: Path) -> None:
    with core(tmp_path, tone("pace=1")) as running:
        with running.curl(text=LONG) as curl:
            running.wait_for(lambda line: line["message"].startswith("speaking"))
            curl.kill()
        running.wait_for(lambda line: line["message"].startswith("stopped after"))


@pytest.mark.contract("d.life.ends-with-server")
def test_a_server_that_is_killed_leaves_no_worker(tmp_path: Path) -> None:
    command = f'["{sys.executable}", "-m", "rhapsode_engine_tone"]'
    foreign = f"[engines.tone]\ncommand = {command}\n"
    for engines in (tone("ignore-sigterm"), foreign):
        with core(tmp_path, engines) as running:
            running.speak()
            pid = process_of(running)
            group = [pid, *_children(pid)]
            assert len(group) > 1
            running.end(signal.SIGKILL)
            until_gone(*group)


@pytest.mark.contract("2.stop.shutdown-signals")
def test_a_server_that_is_told_to_stop_leaves_nothing_and_exits_with_zero(tmp_path: Path) -> None:
    with core(tmp_path, tone()) as running:
        running.speak()
        pid = process_of(running)
        group = [pid, *_children(pid)]
        assert running.end(signal.SIGTERM) == 0
        assert not any(map(is_alive, group))
        assert list(SOCKETS.glob(f"core-{running.process.pid}-*")) == []
        assert "Traceback" not in str(running.log)


@pytest.mark.contract("2.stop.finishes")
def test_what_is_being_spoken_is_finished_before_the_server_ends(tmp_path: Path) -> None:
    with core(tmp_path, tone("pace=2")) as running:
        with running.curl(text="word " * 12, stream=True) as curl:
            assert curl.stdout is not None
            curl.stdout.read(1024)
            running.process.send_signal(signal.SIGTERM)
            running.wait_for(lambda line: "SIGTERM" in line["message"])
            status, body = running.speak()
            assert (status, b'"overloaded"' in body) == (0, True)
            curl.stdout.read()
            assert curl.wait(PATIENCE_SECONDS) == 0
        assert running.process.wait(PATIENCE_SECONDS) == 0


def test_the_grace_of_a_shutdown_is_bounded_by_its_setting(tmp_path: Path) -> None:
    settings = '[server]\nhost = "127.0.0.1"\nport = 0\nshutdownGraceMs = 200\n'
    running_core = core(tmp_path, tone("pace=1"), settings)
    with running_core as running, running.curl(text=LONG, stream=True) as curl:
        assert curl.stdout is not None
        curl.stdout.read(1024)
        assert running.end(signal.SIGTERM) == 0
        curl.stdout.read()
        assert curl.wait(PATIENCE_SECONDS) == TRUNCATED


@pytest.mark.contract("6.errors.overloaded")
@pytest.mark.parametrize("stream", [True, False])
def test_who_still_waits_when_a_shutdown_is_over_hears_it(tmp_path: Path, stream: bool) -> None:
    settings = '[server]\nhost = "127.0.0.1"\nport = 0\nshutdownGraceMs = 2000\n'
    with (
        core(tmp_path, tone("pace=1"), settings) as running,
        running.curl(text=LONG, stream=True) as first,
    ):
        assert first.stdout is not None
        first.stdout.read(1024)
        with running.curl("-i", text=LONG, stream=stream) as second:
            assert second.stdout is not None
            until(lambda: running.get("/residency")["models"][0]["leases"] == 2)
            assert running.end(signal.SIGTERM) == 0
            answer = second.stdout.read()
            assert second.wait(PATIENCE_SECONDS) == 0
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b'"code":"overloaded"' in answer
        first.stdout.read()
        assert first.wait(PATIENCE_SECONDS) == TRUNCATED


def test_a_listener_who_takes_nothing_holds_up_no_shutdown(tmp_path: Path) -> None:
    settings = '[server]\nhost = "127.0.0.1"\nport = 0\nshutdownGraceMs = 200\n'
    with core(tmp_path, tone(), settings) as running, running.curl(text=LONG, stream=True) as curl:
        assert curl.stdout is not None
        curl.stdout.read(1024)
        until(lambda: not running.get("/residency")["models"][0]["leases"])
        assert running.end(signal.SIGTERM) == 0
        curl.stdout.read()
        assert curl.wait(PATIENCE_SECONDS) == TRUNCATED


FOR_EVER = "drainGraceMs = 3600000\n"
"""A line of `[workers]`: what a worker may take to end, as good as for ever."""


def test_workers_that_do_not_leave_are_killed_within_the_same_grace(tmp_path: Path) -> None:
    settings = FOR_EVER + '[server]\nhost = "127.0.0.1"\nport = 0\nshutdownGraceMs = 400\n'
    with core(tmp_path, tone("ignore-sigterm"), settings) as running:
        running.speak()
        pid = process_of(running)
        assert running.end(signal.SIGTERM) == 0
        assert not is_alive(pid)


def test_a_second_signal_ends_workers_that_the_first_one_left_to_drain(tmp_path: Path) -> None:
    settings = FOR_EVER + '[server]\nhost = "127.0.0.1"\nport = 0\nshutdownGraceMs = 7200000\n'
    with core(tmp_path, tone("ignore-sigterm"), settings) as running:
        running.speak()
        pid = process_of(running)
        running.process.send_signal(signal.SIGTERM)
        running.wait_for(lambda line: "SIGTERM" in line["message"])
        assert running.end(signal.SIGTERM) == 1
        assert not is_alive(pid)


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    running_core = core(tmp_path, tone("pace=1", "ignore-sigterm"))
    with running_core as running, running.curl(text=LONG, stream=True) as curl:
        assert curl.stdout is not None
        curl.stdout.read(1024)
        pid = process_of(running)
        running.process.send_signal(signal.SIGINT)
        running.wait_for(lambda line: "SIGINT" in line["message"])
        assert running.end(signal.SIGINT) == 1
        assert not is_alive(pid)
        curl.stdout.read()
        assert curl.wait(PATIENCE_SECONDS) == TRUNCATED


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("voiceDir", "/proc/version", "workers.voiceDir: /proc/version is no folder"),
        ("voiceDir", "/proc/version/in", "workers.voiceDir: /proc/version is no folder"),
        ("socketDir", "s" * 120, "workers.socketDir: the socket "),
    ],
)
def test_a_folder_that_can_hold_nothing_is_one_clear_line_at_the_start(
    tmp_path: Path, name: str, value: str, said: str
) -> None:
    config = tmp_path / "rhapsode.toml"
    config.write_text(
        f'[server]\nhost = "127.0.0.1"\nport = 0\n[workers]\n{name} = "{value}"\n{tone()}'
    )
    command = [RHAPSODE, "serve", "--config", config]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"rhapsode serve: {said}")
    assert done.stderr.count("\n") == 1


def test_a_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    with core(tmp_path, tone()) as running:
        port = running.url.rpartition(":")[2]
        (tmp_path / "second").mkdir()
        settings = f'[server]\nhost = "127.0.0.1"\nport = {port}\n'
        second = start(tmp_path / "second", settings=settings)
        out, said = second.communicate(timeout=PATIENCE_SECONDS)
        assert second.returncode == 2
        whence = f"server.host and server.port from {tmp_path}/second/rhapsode.toml"
        assert said == f"rhapsode serve: the port {port} is in use on 127.0.0.1 ({whence})\n"
        assert out == ""
        assert running.get("/health")["status"] == "ok"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("[sever]\nport = 1\n", "sever: there is no such setting"),
        ("[residency]\nkeepAliveSeconds = -2\n", "residency.keepAliveSeconds"),
        ("[residency\n", "this is not TOML"),
    ],
)
def test_a_config_that_is_wrong_is_one_clear_line(tmp_path: Path, settings: str, said: str) -> None:
    process = start(tmp_path, settings=settings)
    _, told = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 2
    assert told.startswith(f"rhapsode serve: {tmp_path}/rhapsode.toml: ")
    assert said in told
    assert told.count("\n") == 1


def test_the_first_line_says_where_with_what_and_from_which_file(tmp_path: Path) -> None:
    with core(tmp_path, tone()) as running:
        assert running.url.startswith("http://127.0.0.1:")
        assert "tone" in running.greeting
        assert str(tmp_path / "rhapsode.toml") in running.greeting


def _children(pid: int) -> list[int]:
    listed = subprocess.run(
        ["pgrep", "-P", str(pid)], capture_output=True, check=False, text=True, timeout=10
    )
    return [int(line) for line in listed.stdout.split()]
