"""The examples of docs/managing.md, one after the other, as a reader would go through them."""

import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any, Final

import pytest

from .author_page import blocks
from .managed import INSTALL_SECONDS, Box, box
from .served import ROOT, hibari

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PAGE: Final = ROOT / "docs" / "managing.md"
SERVER: Final = "http://localhost:8080"
_JOB: Final = re.compile(r"\b[0-9A-Z]{26}\b")
_TIMED_OUT: Final = 28
"""curl's exit status, of a feed that does not end by itself."""


def until_idle(server: Box) -> None:
    """Waits until no job is left to be done."""
    tick = threading.Event()
    jobs: list[dict[str, Any]] = []
    for _ in range(INSTALL_SECONDS * 5):
        jobs = server.http.get("/installs").json()
        if all(job["state"] in {"succeeded", "failed"} for job in jobs):
            return
        tick.wait(0.2)
    raise AssertionError(jobs)


def test_every_example_works(tmp_path: Path) -> None:
    (tmp_path / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n", encoding="utf-8")
    with box(tmp_path, hibari()) as server:
        for block in blocks(PAGE, "sh"):
            if not block.startswith("curl "):
                continue
            job = next((one["id"] for one in server.http.get("/installs").json()), "")
            lines = [
                line
                for line in block.replace(SERVER, server.core.url).splitlines()
                if "kokoro" not in line  # which is a download of a hundred megabytes
            ]
            command = _JOB.sub(job, "\n".join(lines)).replace("curl -N", "curl -N --max-time 2")
            done = subprocess.run(
                ["sh", "-e", "-c", command],
                cwd=tmp_path,
                env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
                check=False,
                capture_output=True,
                text=True,
            )
            allowed = {0, _TIMED_OUT} if "-N" in command else {0}
            assert done.returncode in allowed, (command, done.stdout, done.stderr)
            until_idle(server)
        states = {job["kind"]: job["state"] for job in server.http.get("/installs").json()}
        assert states == {"install": "succeeded", "reinstall": "succeeded"}
        assert "tone" not in server.engines()
