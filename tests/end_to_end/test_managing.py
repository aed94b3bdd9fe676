"""Engines that come and go through the API, on a real server with real virtualenvs."""

import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from .core_process import PATIENCE_SECONDS, RHAPSODE, tone
from .managed import (
    Box,
    box,
    sources_of_version,
    sources_with_pace,
    sources_without_weights,
)
from .processes import processes_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SOAK = pytest.mark.soak
LONG = "word " * 30
"""Some seconds of audio."""


@pytest.mark.contract("10.install.no-restart", "10.uninstall.removes")
def test_an_engine_comes_speaks_survives_a_restart_and_goes(tmp_path: Path) -> None:
    with box(tmp_path) as server:
        assert server.engines() == {}
        assert server.catalog()["installed"] == "no"
        job = server.install()
        assert (job["state"], job["kind"]) == ("queued", "install")
        steps = [
            event["progress"]["phase"] for event in server.events(job["id"]) if "progress" in event
        ]
        assert list(dict.fromkeys(steps)) == ["venv", "packages", "verify", "register"]
        assert server.over(job)["state"] == "succeeded"
        server.speak()
        entry = server.catalog()
        assert (entry["installed"], entry["managed"], entry["outdated"]) == ("yes", True, False)
        assert server.engines()["tone"]["workerVersion"] == entry["workerVersion"]
    with box(tmp_path) as server:
        server.speak()
        answer = server.http.delete("/engines/tone")
        assert answer.is_success
        assert server.engines() == {}
        assert not (tmp_path / "venvs" / "tone").exists()
        assert server.refused("POST", "/engines/tone/unload") == (404, "unknown_engine")
    with box(tmp_path) as server:
        assert server.engines() == {}


@pytest.mark.contract("10.install.conflict")
def test_of_two_at_once_one_is_a_conflict(tmp_path: Path) -> None:
    with box(tmp_path) as server:
        job = server.install()
        assert server.refused("POST", "/engines/tone/install") == (409, "conflict")
        server.succeeded(job)
        assert server.refused("POST", "/engines/tone/install") == (409, "conflict")


@pytest.mark.contract("10.uninstall.operators", "10.reinstall.operators")
def test_an_engine_of_the_operators_file_is_theirs(tmp_path: Path) -> None:
    with box(tmp_path, tone()) as server:
        for method, path in (
            ("POST", "/engines/tone/install"),
            ("POST", "/engines/tone/reinstall"),
            ("DELETE", "/engines/tone"),
        ):
            assert server.refused(method, path) == (409, "conflict")
        server.speak()
        assert server.catalog()["managed"] is False


@pytest.mark.contract("10.uninstall.speaking", "10.reinstall.waits-for-speaking")
def test_who_speaks_is_cut_off_by_nothing(tmp_path: Path) -> None:
    with box(tmp_path, sources=sources_with_pace(tmp_path / "paced")) as server:
        server.succeeded(server.install())
        with server.core.curl(text=LONG, stream=True) as curl:
            assert curl.stdout is not None
            curl.stdout.read(4096)
            assert server.refused("DELETE", "/engines/tone") == (409, "conflict")
            job = server.reinstall()
            server.until_step(job["id"], "register")
            assert server.http.get(f"/installs/{job['id']}").json()["state"] == "running"
            curl.stdout.read()
            assert curl.wait(PATIENCE_SECONDS * 4) == 0
        server.succeeded(job)
        server.speak()
        assert sorted(path.name for path in (tmp_path / "venvs").iterdir() if path.is_dir()) == [
            "tone.alt"
        ]


@pytest.mark.contract("10.outdated.queues", "9.versions.outdated")
def test_an_upgrade_leaves_engines_behind_and_catches_them_up(tmp_path: Path) -> None:
    old = sources_of_version(tmp_path / "old", "0.0.9")
    with box(tmp_path, sources=old) as server:
        server.succeeded(server.install())
        assert server.catalog()["workerVersion"] == "0.0.9"
    with box(tmp_path) as server:
        assert server.engines()["tone"]["outdated"] is True
        heard = threading.Event()
        spoken: list[bytes] = []

        def speak_on() -> None:
            while not heard.is_set():
                spoken.append(server.speak())

        speaker = threading.Thread(target=speak_on)
        speaker.start()
        try:
            answer = server.http.post("/installs/outdated")
            assert answer.status_code == 202
            (job,) = answer.json()["jobs"]
            server.succeeded(job)
        finally:
            heard.set()
            speaker.join()
        assert len(spoken) > 1
        assert server.engines()["tone"]["outdated"] is False
        again = server.http.post("/installs/outdated")
        assert again.json() == {"jobs": [], "skipped": []}


@pytest.mark.parametrize(
    "step",
    [pytest.param("venv", marks=SOAK), "packages", pytest.param("verify", marks=SOAK), "register"],
)
def test_a_core_that_is_killed_at_any_step_leaves_a_box_that_works(
    tmp_path: Path, step: str
) -> None:
    old = sources_of_version(tmp_path / "old", "0.0.9")
    with box(tmp_path, sources=old) as server:
        server.succeeded(server.install())
    with box(tmp_path) as server:
        job = server.reinstall()
        server.until_step(job["id"], step)
        server.core.end(signal.SIGKILL)
    with box(tmp_path) as server:
        server.speak()  # whichever of the two it is
        assert server.http.get("/installs").json() == []
        server.succeeded(server.reinstall())
        server.speak()
        assert server.engines()["tone"]["outdated"] is False
        assert len([path for path in (tmp_path / "venvs").iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize(
    "step", [pytest.param("venv", marks=SOAK), "packages", pytest.param("verify", marks=SOAK)]
)
def test_a_core_that_is_killed_in_an_install_installs_afterwards(tmp_path: Path, step: str) -> None:
    with box(tmp_path) as server:
        job = server.install()
        server.until_step(job["id"], step)
        server.core.end(signal.SIGKILL)
    with box(tmp_path) as server:
        assert server.catalog()["installed"] == "no"
        server.succeeded(server.install())
        server.speak()


@pytest.mark.contract("10.jobs.shutdown")
def test_a_job_that_runs_at_the_shutdown_is_stopped_with_all_it_started(tmp_path: Path) -> None:
    with box(tmp_path) as server:
        job = server.install()
        server.until_step(job["id"], "packages")
        assert server.core.end() == 0
        said = [line["message"] for line in server.core.log]
        assert any(job["id"] in line and "failed" in line for line in said), said
    assert processes_of(tmp_path / "venvs") == []


@pytest.mark.contract("10.reinstall.failure-changes-nothing")
def test_a_reinstall_that_fails_changes_nothing(tmp_path: Path) -> None:
    with box(tmp_path) as server:
        server.succeeded(server.install())
    broken = sources_of_version(tmp_path / "broken", "0.1.0")
    package = broken / "rhapsode-engine-tone" / "src" / "rhapsode_engine_tone"
    (package / "__init__.py").write_text("raise RuntimeError('not today')\n", encoding="utf-8")
    with box(tmp_path, sources=broken) as server:
        before = server.engines()["tone"]
        done = server.over(server.reinstall())
        assert (done["state"], done["step"]) == ("failed", "verify")
        assert "RuntimeError: not today" in done["error"]["message"]
        server.speak()
        assert server.engines()["tone"]["workerVersion"] == before["workerVersion"]
        assert not (tmp_path / "venvs" / "tone.alt").exists()


def rhapsode(server: Box, *words: str) -> "subprocess.CompletedProcess[str]":
    environ = {"RHAPSODE_URL": server.core.url}
    return subprocess.run(
        [RHAPSODE, *words],
        env=os.environ | environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_the_command_installs_and_says_what_it_does(tmp_path: Path) -> None:
    with box(tmp_path) as server:
        done = rhapsode(server, "install", "tone")
        assert done.returncode == 0, done.stdout
        for said in ("code:    MIT", "installing packages", "is installed"):
            assert said in done.stdout
        assert (
            rhapsode(server, "say", "-e", "tone", "-o", str(tmp_path / "x.wav"), "Hi.").returncode
            == 0
        )
        again = rhapsode(server, "install", "tone")
        assert again.returncode == 1
        assert "[conflict]" in again.stdout
        wrong = rhapsode(server, "install", "tune")
        assert wrong.returncode == 1
        assert "hibari" in wrong.stdout


def test_say_installs_the_default_engine_where_there_is_none(tmp_path: Path) -> None:
    with box(tmp_path) as server:
        output = tmp_path / "x.wav"
        first = rhapsode(server, "say", "-o", str(output), "Hello there.")
        assert first.returncode == 0, first.stdout
        assert "installing hibari" in first.stdout
        assert output.read_bytes()[:4] == b"RIFF"
        second = rhapsode(server, "say", "-o", str(output), "Hello again.")
        assert second.returncode == 0, second.stdout
        assert "installing" not in second.stdout


@pytest.mark.contract("10.install.pull-fails")
def test_the_command_says_that_an_engine_without_its_weights_is_installed(tmp_path: Path) -> None:
    with box(tmp_path, sources=sources_without_weights(tmp_path / "wanting")) as server:
        done = rhapsode(server, "install", "tone")
        assert done.returncode == 1
        assert "failed at weights: " in done.stdout
        assert "the engine is installed: its weights come with its first speech" in done.stdout
        server.speak()
        again = rhapsode(server, "install", "tone")
        assert "POST /engines/tone/pull gets weights for it" in again.stdout


def test_the_command_says_why_an_install_failed(tmp_path: Path) -> None:
    broken = sources_of_version(tmp_path / "broken", "0.1.0")
    project = broken / "rhapsode-engine-tone" / "pyproject.toml"
    project.write_text("this is no TOML", encoding="utf-8")
    with box(tmp_path, sources=broken) as server:
        done = rhapsode(server, "install", "tone")
        assert done.returncode == 1
        assert "failed at packages" in done.stdout
        assert server.catalog()["installed"] == "no"
        assert server.engines() == {}
