"""The first line of a server, and the command around it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from rhapsode.cli.serve import greeting
from rhapsode.state import StateDatabase
from rhapsode.version import VERSION
from rhapsode_http import BoundSockets, TcpAddress


def said(host: str, engines: tuple[str, ...] = (), config: Path | None = None) -> str:
    return greeting(BoundSockets(TcpAddress(host, 8080), ()), engines, config)


def test_the_first_line_gives_an_address_that_can_be_followed() -> None:
    assert "http://localhost:8080, on every interface" in said("::")
    assert "http://localhost:8080, on every interface" in said("0.0.0.0")
    assert "http://[::1]:8080 (" in said("::1")


def test_the_first_line_names_the_engines_and_the_config() -> None:
    line = said("::1", ("tone", "hibari"), Path("/c/rhapsode.toml"))
    assert "tone, hibari" in line
    assert "/c/rhapsode.toml" in line
    assert VERSION in line
    assert "no engines yet" in said("::1")
    assert "no config file" in said("::1")


def test_the_module_is_the_command() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "rhapsode", "--version"],
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    )
    assert shown.stdout == f"rhapsode {VERSION}\n"


def command(config_folder: Path) -> list[str]:
    """Returns the words that run a server without engines, on a free port of the loopback."""
    config = config_folder / "rhapsode.toml"
    config.write_text(
        '[server]\nhost = "127.0.0.1"\nport = 0\n[workers]\nsocketDir = "sockets"\n',
        encoding="utf-8",
    )
    return [sys.executable, "-m", "rhapsode", "serve", "--config", str(config)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_greeting_that_cannot_be_said_is_one_line_and_the_end(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An unbuffered standard output has nothing left to flush at the end, which is what can fail.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command(short_path),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
            timeout=30,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("rhapsode serve: standard output: ")
    assert "Traceback" not in done.stderr


def test_a_server_without_a_standard_error_serves_as_any_other(short_path: Path) -> None:
    words = ["sh", "-c", 'exec "$@" 2>&-', "sh", *command(short_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "listens on" in process.stdout.readline()
        # Nothing of ours has its number, or our log would be written into it.
        error = Path(f"/proc/{process.pid}/fd/2")
        if error.parent.is_dir():
            assert os.readlink(error) == os.devnull
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.slow
@pytest.mark.contract("10.state.one-core")
def test_a_second_core_on_a_database_is_one_line_and_the_end(short_path: Path) -> None:
    with subprocess.Popen(command(short_path), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "listens on" in process.stdout.readline()
        second = subprocess.run(
            command(short_path), capture_output=True, check=False, text=True, timeout=30
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert second.returncode == 2
    (line,) = second.stderr.splitlines()
    assert line.startswith(f"rhapsode serve: {short_path}/rhapsode.db: another core")


@pytest.mark.slow
@pytest.mark.contract("10.state.boot")
def test_a_database_that_cannot_be_made_is_one_line_that_names_it(short_path: Path) -> None:
    nowhere = short_path / "file"
    nowhere.touch()
    environ = {**os.environ, "XDG_CONFIG_HOME": str(nowhere), "HOME": str(nowhere)}
    environ.pop("RHAPSODE_CONFIG", None)
    done = subprocess.run(
        [sys.executable, "-m", "rhapsode", "serve"],
        cwd=short_path,
        env=environ,
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert str(nowhere) in line and "rhapsode.db" in line


@pytest.mark.slow
def test_an_address_of_the_database_that_cannot_be_had_is_said_to_be_from_there(
    short_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with StateDatabase.open(short_path / "rhapsode.db") as state:
            state.write_settings({"server.port": taken.getsockname()[1]})
        done = subprocess.run(
            command(short_path), capture_output=True, check=False, text=True, timeout=30
        )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"(server.host from {short_path}/rhapsode.toml, " in line
    assert f"server.port from {short_path}/rhapsode.db); rhapsode serve --ignore-saved" in line


@pytest.mark.slow
@pytest.mark.contract("10.settings.ignore-saved")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server.host", "no-such-host.invalid"),
        ("workers.socketDir", "file"),
        ("workers.voiceDir", "file"),
        ("workers.maxRestarts", -1),
    ],
)
def test_a_saved_value_that_stops_every_start_can_be_ignored_and_cleared(
    short_path: Path, key: str, value: object
) -> None:
    (short_path / "file").touch()
    # As an earlier core let it be saved, or a later one allows it.
    with StateDatabase.open(short_path / "rhapsode.db") as state:
        state.write_settings({key: value})
    words = command(short_path)
    refused = subprocess.run(words, capture_output=True, check=False, text=True, timeout=30)
    assert (refused.returncode, refused.stdout) == (2, "")
    (line,) = refused.stderr.splitlines()
    assert "--ignore-saved" in line
    assert key in line and f"{short_path}/rhapsode.db" in line
    with served([*words, "--ignore-saved"]) as (url, process):
        section, _, name = key.partition(".")
        patch(url, {section: {name: None}})
        with pytest.raises(HTTPError) as again:
            patch(url, {section: {name: value}})
        with again.value as answer:
            assert answer.status == 400
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)
        assert process.returncode == 0
    assert "--ignore-saved" in log and key in log
    with served(words) as (_, process):
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@contextmanager
def served(words: list[str]) -> Generator[tuple[str, "subprocess.Popen[str]"]]:
    """Gives the URL of a server that has begun, and its process, which the block ends."""
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found[0], process


def patch(url: str, body: object) -> Any:
    request = urllib.request.Request(
        f"{url}/settings",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
        method="PATCH",
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
