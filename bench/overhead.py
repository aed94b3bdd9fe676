"""What the core adds: the same worker asked directly, through the core, and through nginx."""

import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from sys import executable
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.asking import ask, delays_of
from bench.figures import ms, show, summary
from bench.processes import Running, children, core, cpu_seconds, nginx, worker

PYTHON: Final = Path(executable)
STREAMS: Final = 50

Body = Mapping[str, object]


@dataclass(frozen=True)
class Way:
    """One way to the worker."""

    name: str

    client: Client

    extra: Body
    """What this way's requests say besides."""

    pid: int | None
    """The process in between, where there is one."""


def measure(rounds: int) -> dict[str, Any]:
    """Runs all of it and prints it."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as stack:
        folder = Path(name)
        direct = stack.enter_context(worker(PYTHON, "bench.engine", "prepared", folder))
        proxy = stack.enter_context(nginx(direct.address, folder))
        entry = {"command": [executable, "-m", "bench.engine"], "cwd": str(Path.cwd())}
        server = stack.enter_context(core({"prepared": entry}, folder))
        return anyio.run(_measure, direct, server, proxy, rounds)


async def _measure(direct: Running, server: Running, proxy: Running, rounds: int) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        ways = [
            Way("worker, directly", await _client(stack, direct), {}, None),
            Way(
                "through the core", await _client(stack, server), {"engine": "prepared"}, server.pid
            ),
            Way("through nginx", await _client(stack, proxy), {}, proxy.pid),
        ]
        small = {"text": "small", "voice": "small", "format": "pcm"}
        figures = {
            "small": await _in_turn(ways, small, rounds),
            "first byte": await _in_turn(ways, small | {"stream": True}, rounds),
            "2 MB": await _in_turn(ways, small | {"voice": "large"}, max(20, rounds // 20)),
            "cpu": await _cpu(ways, small, rounds),
            "paced": {way.name: await _paced(way) for way in ways},
        }
    _print(figures)
    return figures


async def _client(stack: AsyncExitStack, running: Running) -> Client:
    return await stack.enter_async_context(Client(running.address))


async def _in_turn(ways: list[Way], body: Body, rounds: int) -> dict[str, Any]:
    """Asks every way in turn, so that whatever disturbs the machine disturbs all of them."""
    totals: dict[str, list[float]] = {way.name: [] for way in ways}
    firsts: dict[str, list[float]] = {way.name: [] for way in ways}
    for number in range(rounds + 10):
        for way in ways if number % 2 else reversed(ways):
            answer = await ask(way.client, {**body, **way.extra})
            if number >= 10:  # the first ones pay for the model, connections and caches
                totals[way.name].append(answer.total_seconds)
                firsts[way.name].append(answer.first_byte_seconds)
    return {
        name: {"total": summary(totals[name]), "first byte": summary(firsts[name])}
        for name in totals
    }


async def _cpu(ways: list[Way], body: Body, rounds: int) -> dict[str, float]:
    """Processor seconds a small request of the process in between, over a run of them."""
    costs: dict[str, float] = {}
    for way in ways:
        if way.pid is None:
            continue
        pid = _busy_pid(way)
        before = cpu_seconds(pid)
        for _ in range(rounds * 4):
            await ask(way.client, {**body, **way.extra})
        costs[way.name] = (cpu_seconds(pid) - before) / (rounds * 4)
    return costs


def _busy_pid(way: Way) -> int:
    """nginx's work is done by its one child; the core's by itself."""
    assert way.pid is not None
    if way.name != "through nginx":
        return way.pid
    return children(way.pid)[0]


async def _paced(way: Way) -> dict[str, float]:
    """How late the pieces of fifty streams in real time arrive, after they were made."""
    body = {"text": "paced", "voice": "paced", "format": "pcm", "stream": True, **way.extra}
    delays: list[float] = []

    async def listen() -> None:
        answer = await ask(way.client, body, keeps_pieces=True)
        delays.extend(delays_of(answer.arrivals_ns))

    async with anyio.create_task_group() as tasks:
        for _ in range(STREAMS):
            tasks.start_soon(listen)
    return summary(delays)


def _print(figures: dict[str, Any]) -> None:
    names = list(figures["small"])
    first = names[0]
    rows: list[tuple[str, ...]] = []
    for what, field in (("small", "total"), ("first byte", "first byte"), ("2 MB", "total")):
        for name in names:
            here, base = figures[what][name][field], figures[what][first][field]
            added = "" if name == first else ms(here["p50"] - base["p50"])
            rows.append((f"{what}: {name}", ms(here["p50"]), ms(here["p99"]), added))
    for name, delay in figures["paced"].items():
        added = "" if name == first else ms(delay["p50"] - figures["paced"][first]["p50"])
        rows.append((f"{STREAMS} streams: {name}", ms(delay["p50"]), ms(delay["p99"]), added))
    show("What is added on the way to a worker", ("", "p50", "p99", "added p50"), rows)
    costs = figures["cpu"]
    ratio = costs["through the core"] / costs["through nginx"]
    show(
        "Processor time a small request",
        ("", "µs"),
        [(name, f"{cost * 1e6:.0f}") for name, cost in costs.items()],
        f"the core costs {ratio:.1f} times nginx",
    )
