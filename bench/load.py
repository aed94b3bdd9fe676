"""Two hundred listeners at once: whether anybody is cut off, how late audio is, what it costs."""

import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from sys import executable
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.asking import ask
from bench.figures import mb, ms, show, summary
from bench.listening import STREAMS, Heard, hear_at_pace, hear_live
from bench.processes import Running, children, core, cpu_seconds, memory, nginx, worker

Figures = dict[str, dict[str, float]]
Hear = Callable[[Running, Mapping[str, str]], Awaitable[Heard]]

_SCENES: Final[dict[str, tuple[str, str, Hear]]] = {
    "at the listener's pace": ("tone", "rhapsode_engine_tone", hear_at_pace),
    "as it is made, by 200 threads": ("prepared", "bench.engine", hear_live),
}
"""Who speaks, and how it is heard. A worker whose 200 threads wake ten times a second each is a
load by itself, most of it the system's.
"""


def measure(rounds: int) -> dict[str, Any]:
    """Runs all of it and prints it."""
    return {title: _scene(title, rounds, *scene) for title, scene in _SCENES.items()}


def _scene(title: str, rounds: int, engine: str, module: str, hear: Hear) -> Figures:
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as stack:
        folder = Path(name)
        direct = stack.enter_context(worker(Path(executable), module, engine, folder))
        proxy = stack.enter_context(nginx(direct.address, folder))
        entry = {"command": [executable, "-m", module], "cwd": str(Path.cwd())}
        server = stack.enter_context(core({engine: entry}, folder))
        ways: dict[str, tuple[Running, int, dict[str, str]]] = {
            "worker, directly": (direct, direct.pid, {}),
            "through the core": (server, server.pid, {"engine": engine}),
            "through nginx": (proxy, children(proxy.pid)[0], {}),
        }
        figures = {way: anyio.run(_measure, hear, rounds, *them) for way, them in ways.items()}
    _print(title, figures)
    return figures


async def _measure(
    hear: Hear, rounds: int, running: Running, pid: int, extra: dict[str, str]
) -> dict[str, float]:
    async with Client(running.address) as client:
        await ask(client, {"text": "small", "format": "pcm", **extra})
    await hear(running, extra)  # the first round pays for connections and buffers
    before, held, begun = cpu_seconds(pid), memory(pid).resident, time.monotonic()
    delays: list[float] = []
    for _ in range(rounds):
        delays += (await hear(running, extra)).delays
    seconds = time.monotonic() - begun
    return {
        **summary(delays),
        "cpu of a stream": (cpu_seconds(pid) - before) / (seconds * STREAMS),
        "grown bytes": memory(pid).resident - held,
    }


def _print(title: str, figures: Figures) -> None:
    rows = [
        (
            name,
            ms(figure["p50"]),
            ms(figure["p99"]),
            f"{figure['cpu of a stream'] * 100:.2f} %",
            mb(figure["grown bytes"]),
        )
        for name, figure in figures.items()
    ]
    show(
        f"{STREAMS} streams in real time, {title}",
        ("", "a piece is late, p50", "p99", "of a core, a stream", "grown"),
        rows,
        "processor and memory are those of the process named; nobody was cut off",
    )
