"""Settings of a running server: applied now, kept for the next start, and never half written."""

import http.client
import json
import random
import resource
import signal
import socket
import sqlite3
import sys
import threading
import time
import urllib.parse
import urllib.request
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

import pytest

from .core_process import PATIENCE_SECONDS, CoreProcess, core, tone

pytestmark = pytest.mark.slow

LONGEST_DELAY_SECONDS: Final = 0.03
"""About as long as a write takes, so that kills fall on all of its parts."""


def patch(running: CoreProcess, **sections: Any) -> Any:
    request = urllib.request.Request(
        f"{running.url}/settings",
        json.dumps(sections).encode(),
        {"Content-Type": "application/json"},
        method="PATCH",
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return json.load(answer)


def deadline(running: CoreProcess) -> tuple[timedelta, int]:
    """Returns how long after its last use the one model goes, as a date and as a figure."""
    (model,) = running.get("/residency")["models"]
    used, goes = (datetime.fromisoformat(model[key]) for key in ("lastUsedAt", "expiresAt"))
    return goes - used, model["keepAliveSeconds"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.mark.contract("10.settings.deadlines")
def test_a_keep_alive_moves_the_deadline_of_the_model_that_is_idle_now(tmp_path: Path) -> None:
    with core(tmp_path, tone()) as running:
        assert running.speak()[0] == 0
        assert deadline(running) == (timedelta(seconds=300), 300)
        patch(running, residency={"keepAliveSeconds": 900})
        assert deadline(running) == (timedelta(seconds=900), 900)
        patch(running, engines={"tone": {"keepAliveSeconds": 1200}})
        assert deadline(running) == (timedelta(seconds=1200), 1200)
        patch(running, residency={"keepAliveSeconds": 0})
        assert deadline(running)[1] == 1200
        patch(running, engines={"tone": {"keepAliveSeconds": None}})
        running.wait_for(lambda line: line.get("reason") == "keep-alive")


def other() -> str:
    """Returns the table of a second engine that plays tones, `other`."""
    code = (
        "from rhapsode_engine_tone.engine import ToneEngine; from rhapsode_worker import serve; "
        "serve(type('Other', (ToneEngine,), {'id': 'other'})())"
    )
    return f"[engines.other]\ncommand = {json.dumps([sys.executable, '-c', code])}\n"


def residents(running: CoreProcess) -> set[str]:
    return {model["engine"] for model in running.get("/residency")["models"]}


@pytest.mark.contract("10.settings.no-eviction")
def test_fewer_places_evict_nothing_until_one_is_needed(tmp_path: Path) -> None:
    settings = "[residency]\nmaxResidentModels = 2\n"
    with core(tmp_path, tone() + other(), settings) as running:
        for engine in ("tone", "other"):
            assert running.speak(engine=engine)[0] == 0
        patch(running, residency={"maxResidentModels": 1})
        assert running.get("/residency")["max"] == 1
        assert residents(running) == {"tone", "other"}
        # Both are there, so a request for either needs no room.
        assert running.speak()[0] == 0
        assert residents(running) == {"tone", "other"}
        unload = f"{running.url}/engines/tone/unload"
        with urllib.request.urlopen(unload, b"", timeout=PATIENCE_SECONDS):
            assert residents(running) == {"other"}
        assert running.speak()[0] == 0
        assert residents(running) == {"tone"}


@pytest.mark.contract("10.settings.waiting", "10.state.file-untouched")
def test_a_port_waits_for_the_next_start_which_takes_it(tmp_path: Path) -> None:
    port = free_port()
    config = tmp_path / "rhapsode.toml"
    with core(tmp_path, "") as running:
        said = config.read_bytes()
        after = patch(running, server={"port": port})
        (field,) = [one for one in after["fields"] if one["key"] == "server.port"]
        assert (field["source"], field["saved"]) == ("config", port)
        assert running.get("/settings") == after
        assert config.read_bytes() == said
    with core(tmp_path, "") as running:
        assert urllib.parse.urlsplit(running.url).port == port
        assert running.get("/settings")["values"]["server"]["port"] == port


@pytest.mark.contract("10.settings.unwritable")
@pytest.mark.skipif(sys.platform != "linux", reason="only there can a process limit another")
def test_a_full_disk_is_said_and_changes_nothing(tmp_path: Path) -> None:
    with core(tmp_path, "") as running:
        before = patch(running, residency={"keepAliveSeconds": 7})
        limits = resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (0, -1))
        with pytest.raises(HTTPError) as refused:
            patch(running, residency={"keepAliveSeconds": 8})
        with refused.value as answer:
            assert answer.status == 500
            error = json.load(answer)["error"]
        assert error["code"] == "internal"
        assert "rhapsode.db" in error["message"]
        assert running.get("/settings") == before
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, limits)
        patch(running, residency={"keepAliveSeconds": 8})
    with core(tmp_path, "") as running:
        assert running.get("/settings")["values"]["residency"]["keepAliveSeconds"] == 8


class Writer:
    """A client that changes two settings at a time, to the next number each time."""

    def __init__(self, url: str, last: int) -> None:
        self.acknowledged = last
        self.has_begun = threading.Event()
        self._address = urllib.parse.urlsplit(url).netloc
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> "Writer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(PATIENCE_SECONDS)

    def _write(self) -> None:
        connection = http.client.HTTPConnection(self._address, timeout=PATIENCE_SECONDS)
        try:
            while True:
                number = self.acknowledged + 1
                both = {
                    "residency": {"keepAliveSeconds": number},
                    "workers": {"maxRestarts": number},
                }
                headers = {"Content-Type": "application/json"}
                connection.request("PATCH", "/settings", json.dumps(both), headers)
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 200
                self.acknowledged = number
                self.has_begun.set()
        except (OSError, http.client.HTTPException):
            pass  # the server is gone
        finally:
            connection.close()


def kept(folder: Path) -> tuple[str, list[int]]:
    """Returns what SQLite says of the database, and the numbers in it."""
    connection = sqlite3.connect(folder / "rhapsode.db")
    try:
        (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
        rows = connection.execute("SELECT value FROM settings ORDER BY key").fetchall()
        return verdict, [json.loads(value) for (value,) in rows]
    finally:
        connection.close()


@pytest.mark.contract("10.state.survives-kill")
@pytest.mark.parametrize(
    "kills", [6, pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])]
)
def test_a_server_killed_while_it_writes_keeps_every_acknowledged_write(
    tmp_path: Path, kills: int
) -> None:
    chance = random.Random(kills)
    last = 0
    for _ in range(kills):
        with core(tmp_path, "") as running:
            in_use = running.get("/settings")["values"]["residency"]["keepAliveSeconds"]
            assert in_use == (last or 300)
            with Writer(running.url, last) as writer:
                assert writer.has_begun.wait(PATIENCE_SECONDS)
                time.sleep(chance.uniform(0, LONGEST_DELAY_SECONDS))  # to anywhere in a write
                running.end(signal.SIGKILL)
        verdict, numbers = kept(tmp_path)
        assert verdict == "ok"
        # Both or neither of a write that nobody was told of.
        assert numbers[0] == numbers[1]
        assert numbers[0] in (writer.acknowledged, writer.acknowledged + 1)
        last = numbers[0]
