"""How long a worker takes to its handshake, its model to load, and what its processes hold."""

import tempfile
import time
from pathlib import Path
from sys import executable
from typing import Any, Final

import anyio
from rhapsode_contract import FORMATS
from rhapsode_http import Client

from bench.asking import ask
from bench.figures import mb, ms, show, summary
from bench.hibari import SENTENCE, VENV
from bench.processes import Memory, Running, children, cpu_seconds, memory, worker

WANTED_START_SECONDS: Final = 0.5
WANTED_WORKER_MB: Final = 60
WANTED_ENCODER_MB: Final = 40

_WORKERS: Final = {
    "tone": (Path(executable), "rhapsode_engine_tone"),
    "hibari": (VENV / "bin" / "python", "rhapsode_engine_hibari"),
}


def measure(rounds: int) -> dict[str, Any]:
    """Runs it and prints it."""
    figures = {name: _starts(name, *how, rounds) for name, how in _WORKERS.items()}
    times = ("handshake", "processor", "health", "load", "unload")
    show(
        "A worker's start",
        ("", "to its handshake", "processor time", "to its first /health", "load", "unload"),
        [(name, *(ms(figures[name][what]["p50"]) for what in times)) for name in figures],
        f"wanted of tone: {WANTED_START_SECONDS} s from its spawn to both; processor time is its"
        " own and its encoder's",
    )
    show(
        "What it holds, once it has spoken in every format",
        ("", "resident", "of it, its share"),
        [
            (f"{name}: {process}", mb(held["resident"]["p50"]), mb(held["proportional"]["p50"]))
            for name in figures
            for process, held in figures[name]["memory"].items()
        ],
        f"wanted of tone: a worker under {WANTED_WORKER_MB} MB, an encoder under"
        f" {WANTED_ENCODER_MB} MB",
    )
    return figures


def _starts(name: str, python: Path, module: str, rounds: int) -> dict[str, Any]:
    times: dict[str, list[float]] = {}
    held: dict[str, list[Memory]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            begun = time.perf_counter()
            with worker(python, module, name, Path(folder)) as running:
                for what, seconds in anyio.run(_life, running, begun).items():
                    times.setdefault(what, []).append(seconds)
                held.setdefault("worker", []).append(memory(running.pid))
                (encoder,) = children(running.pid)
                held.setdefault("encoder", []).append(memory(encoder))
    return {
        **{what: summary(samples) for what, samples in times.items()},
        "memory": {
            process: {
                "resident": summary([one.resident for one in samples]),
                "proportional": summary([one.proportional for one in samples]),
            }
            for process, samples in held.items()
        },
    }


async def _life(running: Running, begun: float) -> dict[str, float]:
    """Takes a worker from its handshake to where it has spoken once; returns what took how long."""
    times = {"handshake": time.perf_counter() - begun}
    times["processor"] = sum(map(cpu_seconds, [running.pid, *children(running.pid)]))
    async with Client(running.address) as client:
        await _verb(client, "GET", "/health")
        times["health"] = time.perf_counter() - begun
        times["load"] = await _verb(client, "POST", "/load")
        times["unload"] = await _verb(client, "POST", "/unload")
        for format in FORMATS:  # each has a library of its own
            await ask(client, {"text": SENTENCE, "format": format})
    return times


async def _verb(client: Client, method: str, path: str) -> float:
    begun = time.perf_counter()
    response = await client.request(method, path)
    while await response.read():
        pass
    if response.status != 200:
        raise RuntimeError(f"{path} answered {response.status}")
    return time.perf_counter() - begun
