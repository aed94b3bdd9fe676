"""Two hundred listeners at once: whether anybody is cut off, how late audio is, what it costs."""

import tempfile
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from sys import executable
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.asking import ask, delays_of
from bench.engine import PACED_PIECES, PIECE_BYTES, PIECE_SECONDS
from bench.figures import mb, ms, show, summary
from bench.processes import Running, children, core, cpu_seconds, memory, nginx, worker

PYTHON: Final = Path(executable)
STREAMS: Final = 200
_SECONDS: Final = PACED_PIECES * PIECE_SECONDS

_APART_SECONDS: Final = 0.0053
"""Between the starts of two streams. All that start in one moment have their pieces in one moment
too, ten times a second, and the last of 200 waits for what the others take.
"""


def measure(rounds: int) -> dict[str, Any]:
    """Runs all of it and prints it."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as stack:
        folder = Path(name)
        direct = stack.enter_context(worker(PYTHON, "bench.engine", "prepared", folder))
        proxy = stack.enter_context(nginx(direct.address, folder))
        entry = {"command": [executable, "-m", "bench.engine"], "cwd": str(Path.cwd())}
        server = stack.enter_context(core({"prepared": entry}, folder))
        figures = anyio.run(_measure, direct, server, proxy, rounds)
    _print(figures)
    return figures


async def _measure(
    direct: Running, server: Running, proxy: Running, rounds: int
) -> dict[str, dict[str, float]]:
    ways: dict[str, tuple[Running, int, dict[str, str]]] = {
        "worker, directly": (direct, direct.pid, {}),
        "through the core": (server, server.pid, {"engine": "prepared"}),
        "through nginx": (proxy, children(proxy.pid)[0], {}),
    }
    figures: dict[str, dict[str, float]] = {}
    for name, (running, pid, extra) in ways.items():
        async with Client(running.address) as client:
            await ask(client, {"text": "small", "voice": "small", "format": "pcm", **extra})
        await _listen(running, extra)  # the first round pays for connections and buffers
        before, held = cpu_seconds(pid), memory(pid).resident
        delays: list[float] = []
        for _ in range(rounds):
            delays += await _listen(running, extra)
        spent = cpu_seconds(pid) - before
        figures[name] = {
            **summary(delays),
            "cpu of a stream": spent / (rounds * STREAMS * _SECONDS),
            "grown bytes": memory(pid).resident - held,
        }
    return figures


async def _listen(running: Running, extra: dict[str, str]) -> list[float]:
    """Hears every stream out; returns how late each piece came.

    Raises:
        RuntimeError: One was cut off or is too short.
    """
    body = {"text": "paced", "voice": "paced", "format": "pcm", "stream": True, **extra}
    delays: list[float] = []

    async def listen(number: int) -> None:
        await anyio.sleep(number * _APART_SECONDS)
        answer = await ask(client, body, keeps_pieces=True)
        if answer.size != PACED_PIECES * PIECE_BYTES:
            raise RuntimeError(f"a stream had {answer.size} bytes")
        delays.extend(delays_of(answer.arrivals_ns))

    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(running.address, max_idle=STREAMS))
        async with anyio.create_task_group() as tasks:
            for number in range(STREAMS):
                tasks.start_soon(listen, number)
    return delays


def _print(figures: dict[str, dict[str, float]]) -> None:
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
        f"{STREAMS} streams in real time",
        ("", "a piece is late, p50", "p99", "of a core, a stream", "grown"),
        rows,
        "processor and memory are those of the process named; nobody was cut off",
    )
