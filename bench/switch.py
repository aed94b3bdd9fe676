"""What it costs to change engines on a full card, beyond the engines' own start, load and exit."""

import os
import tempfile
import time
from pathlib import Path
from sys import executable
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.asking import ask
from bench.figures import ms, show, summary
from bench.processes import Running, core, worker

PYTHON: Final = Path(executable)
WANTED_SECONDS: Final = 0.05
_SMALL: Final = {"text": "small", "voice": "small", "format": "pcm"}


def measure(rounds: int) -> dict[str, Any]:
    """Runs it and prints it."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        engines = ("one", "two")
        entries = {
            engine: {"command": [executable, "-m", "bench.engine", engine], "cwd": str(Path.cwd())}
            for engine in engines
        }
        own: list[float] = []
        switches: list[float] = []
        with core(entries, folder) as server:
            anyio.run(_speak, server, "one")
            for number in range(rounds):
                # In turn, so that whatever disturbs the machine disturbs both.
                own.append(_life(folder))
                switches.append(anyio.run(_speak, server, engines[(number + 1) % 2]))
    figures = {"own": summary(own), "switch": summary(switches)}
    figures["added"] = {"p50": figures["switch"]["p50"] - figures["own"]["p50"]}
    show(
        "A change of engines with one place",
        ("", "p50", "p99"),
        [
            (what, ms(figures[key]["p50"]), ms(figures[key]["p99"]))
            for what, key in (
                ("an engine's own exit, start, load and speech", "own"),
                ("a request that changes engines", "switch"),
            )
        ],
        f"added: {ms(figures['added']['p50'])}, wanted at most {ms(WANTED_SECONDS)}",
    )
    return figures


async def _speak(server: Running, engine: str) -> float:
    async with Client(server.address) as client:
        return (await ask(client, {**_SMALL, "engine": engine})).total_seconds


def _life(folder: Path) -> float:
    """Returns how long a worker takes by itself: start, load, speech and exit."""
    begun = time.perf_counter()
    with worker(PYTHON, "bench.engine", "prepared", folder) as running:
        anyio.run(_one_life, running)
        os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)
        return time.perf_counter() - begun


async def _one_life(running: Running) -> None:
    async with Client(running.address) as client:
        await ask(client, _SMALL)
        async with await client.request("POST", "/terminate") as response:
            await response.read_all(limit_bytes=1024)
