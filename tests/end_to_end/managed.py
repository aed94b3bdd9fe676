"""A server that has no engine yet, and what manages it, for tests of installs."""

import re
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from httpx_sse import connect_sse

from .core_process import CoreProcess, core
from .served import ROOT

INSTALL_SECONDS: Final = 240
"""The longest that one install may take, on a machine that is busy."""

PACKAGES: Final = ROOT / "packages"

_OURS: Final = ("rhapsode-contract", "rhapsode-http", "rhapsode-worker", "rhapsode-engine-tone")
_VERSION: Final = re.compile(r"\b0\.1\.0\b")


class Box:
    """A running server, asked as a script would."""

    def __init__(self, core: CoreProcess, http: httpx.Client) -> None:
        self.core = core
        self.http = http

    def install(self, engine: str = "tone", **query: str) -> dict[str, Any]:
        """Starts an install and returns its job."""
        return self.started(f"/engines/{engine}/install", **query)

    def reinstall(self, engine: str = "tone") -> dict[str, Any]:
        """Starts a reinstall and returns its job."""
        return self.started(f"/engines/{engine}/reinstall")

    def started(self, path: str, **query: str) -> dict[str, Any]:
        """Starts a job and returns it."""
        answer = self.http.post(path, params=query)
        assert answer.status_code == 202, answer.text
        return answer.json()

    def events(self, job: str) -> Iterator[dict[str, Any]]:
        """Yields the events of a job, up to its last."""
        with connect_sse(self.http, "GET", f"/installs/{job}/events") as source:
            for frame in source.iter_sse():
                if not frame.data:
                    continue  # what this parser makes of a comment
                event = frame.json()
                yield event
                if event.get("progress", {}).get("status") in {"done", "failed"}:
                    return

    def until_step(self, job: str, step: str) -> None:
        """Waits until a job has come to a step."""
        assert any(event.get("progress", {}).get("phase") == step for event in self.events(job))

    def over(self, job: dict[str, Any]) -> dict[str, Any]:
        """Returns a job once it is over."""
        for _ in self.events(job["id"]):
            pass
        return self.http.get(f"/installs/{job['id']}").json()

    def succeeded(self, job: dict[str, Any]) -> None:
        """Waits for a job that has to end well."""
        done = self.over(job)
        assert done["state"] == "succeeded", done

    def speak(self, engine: str = "tone", text: str = "Hello there.") -> bytes:
        """Returns a WAV file."""
        answer = self.http.post("/speak", json={"engine": engine, "text": text})
        assert answer.status_code == 200, answer.text
        assert answer.content[:4] == b"RIFF"
        return answer.content

    def refused(self, method: str, path: str, **query: str) -> tuple[int, str]:
        """Returns the status and the code of a refusal."""
        answer = self.http.request(method, path, params=query)
        assert not answer.is_success, answer.text
        return answer.status_code, answer.json()["error"]["code"]

    def catalog(self, engine: str = "tone") -> dict[str, Any]:
        """Returns an engine's entry of the catalog."""
        (entry,) = [one for one in self.http.get("/catalog").json() if one["id"] == engine]
        return entry

    def engines(self) -> dict[str, dict[str, Any]]:
        """Returns the engines in service, by id."""
        return {one["id"]: one for one in self.http.get("/engines").json()}


@contextmanager
def box(folder: Path, engines: str = "", sources: Path = PACKAGES) -> Generator[Box]:
    """Runs a server for the length of a block, with a database and virtualenvs in its folder."""
    settings = f'[install]\nvenvDir = "venvs"\nsourceDir = "{sources}"\n'
    with core(folder, engines, settings) as running:
        timeout = httpx.Timeout(15, read=INSTALL_SECONDS)
        with httpx.Client(base_url=running.url, timeout=timeout, trust_env=False) as http:
            yield Box(running, http)


def sources_with_pace(folder: Path) -> Path:
    """Makes a copy of the sources of the tone engine, which takes as long to say something as it
    lasts.
    """
    sources_of_version(folder, "0.1.0")
    main = folder / "rhapsode-engine-tone" / "src" / "rhapsode_engine_tone" / "__main__.py"
    text = main.read_text(encoding="utf-8")
    paced = text.replace('.get(VARIABLE, "")', '.get(VARIABLE, "pace=1")')
    assert paced != text
    main.write_text(paced, encoding="utf-8")
    return folder


def sources_without_weights(folder: Path) -> Path:
    """Makes a copy of the sources of the tone engine, which wants weights and finds none."""
    sources_of_version(folder, "0.1.0")
    engine = folder / "rhapsode-engine-tone" / "src" / "rhapsode_engine_tone" / "engine.py"
    text = engine.read_text(encoding="utf-8")
    fetch = "    def fetch(self, variant):\n        raise ConnectionError('no network')\n\n"
    wanting = text.replace("    def load(self", f"{fetch}    def load(self", 1)
    assert wanting != text
    engine.write_text(wanting, encoding="utf-8")
    return folder


def sources_of_version(folder: Path, version: str) -> Path:
    """Makes a copy of the sources of the tone engine, as another release has them."""
    for name in _OURS:
        shutil.copytree(PACKAGES / name, folder / name, ignore=shutil.ignore_patterns("tests"))
        project = folder / name / "pyproject.toml"
        text = project.read_text(encoding="utf-8")
        project.write_text(_VERSION.sub(version, text), encoding="utf-8")
    return folder
