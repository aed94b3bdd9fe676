"""How long a worker takes to its handshake, and its model to load."""

import tempfile
import time
from pathlib import Path
from sys import executable
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.figures import ms, show, summary
from bench.hibari import VENV
from bench.processes import Running, worker

_WORKERS: Final = {
    "tone": (Path(executable), "rhapsode_engine_tone"),
    "hibari": (VENV / "bin" / "python", "rhapsode_engine_hibari"),
}


def measure(rounds: int) -> dict[str, Any]:
    """Runs it and prints it."""
    figures = {name: _starts(name, *how, rounds) for name, how in _WORKERS.items()}
    rows = [
        (name, *(ms(figures[name][what]["p50"]) for what in ("start", "load", "unload")))
        for name in figures
    ]
    show("A worker's start", ("", "to its handshake", "load", "unload"), rows)
    return figures


def _starts(name: str, python: Path, module: str, rounds: int) -> dict[str, Any]:
    starts: list[float] = []
    loads: list[float] = []
    unloads: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            begun = time.perf_counter()
            with worker(python, module, name, Path(folder)) as running:
                starts.append(time.perf_counter() - begun)
                loads.append(anyio.run(_verb, running, "/load"))
                unloads.append(anyio.run(_verb, running, "/unload"))
    return {"start": summary(starts), "load": summary(loads), "unload": summary(unloads)}


async def _verb(running: Running, path: str) -> float:
    async with Client(running.address) as client:
        begun = time.perf_counter()
        response = await client.request("POST", path)
        while await response.read():
            pass
        if response.status != 200:
            raise RuntimeError(f"{path} answered {response.status}")
        return time.perf_counter() - begun
