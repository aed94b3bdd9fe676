"""Listeners who leave, and monitors who ask: what a server does beside speaking."""

import statistics
import time
from collections.abc import Sequence
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.processes import tree_cpu_seconds
from bench.rivals.target import Target, speak
from bench.rivals.texts import HALF

_IDLE_SHARE: Final = 0.05
"""Of a core; below that a server does nothing that anybody asked for."""

_TICK_SECONDS: Final = 0.01
"""What processor time is counted in."""

_HOLD_SECONDS: Final = 0.8
"""A pause between two pieces is shorter."""

_LOOK_SECONDS: Final = 0.02
_LONGEST_SECONDS: Final = 60
_LEFT_AT: Final = 0.2
"""Of the time that the whole answer takes, where nothing comes before it is whole."""

_ASK_EVERY_SECONDS: Final = 0.05

Look = tuple[float, float]
"""When, and the processor seconds used until then."""


async def measure_leaving(target: Target, client: Client) -> dict[str, Any]:
    """Returns for each way how long the server goes on after its listener has left."""
    found: dict[str, Any] = {}
    for name, way in target.ways.items():
        whole = await speak(client, way, HALF)
        if whole.failure:
            found[name] = {"failure": whole.failure}
            continue
        if name == "streamed":
            await speak(client, way, HALF, is_left_at_once=True)
        else:
            with anyio.move_on_after(_LEFT_AT * whole.total_seconds):
                await speak(client, way, HALF)
        looks = await _watch(target.running.pid)
        found[name] = {
            "whole seconds": whole.total_seconds,
            "idle after": idle_after(looks),
            "processor seconds": looks[-1][1] - looks[0][1],
        }
    return found


async def measure_health(target: Target, client: Client) -> dict[str, float]:
    """Returns how long the server takes to say that it is well while it speaks, in seconds."""
    taken: list[float] = []
    has_spoken = anyio.Event()

    async def listen() -> None:
        await speak(client, target.ways[target.first_way], HALF)
        has_spoken.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        while not has_spoken.is_set():
            await anyio.sleep(_ASK_EVERY_SECONDS)
            begun = time.perf_counter()
            async with await client.request("GET", target.health) as response:
                await response.read()
            taken.append(time.perf_counter() - begun)
    return {"p50": statistics.median(taken), "max": max(taken), "asked": len(taken)}


def idle_after(looks: Sequence[Look]) -> float | None:
    """Returns the seconds until a process was idle for good; None where it was not.

    Args:
        looks: The first one when its listener left.
    """
    ended, used = looks[-1]
    for when, used_by_then in looks:
        left = ended - when
        if left < _HOLD_SECONDS:
            return None
        if used - used_by_then <= _IDLE_SHARE * left + _TICK_SECONDS:
            return when - looks[0][0]
    return None


async def _watch(pid: int) -> list[Look]:
    """Looks on until the process is idle, or for a minute."""
    looks: list[Look] = [(time.perf_counter(), tree_cpu_seconds(pid))]
    while looks[-1][0] - looks[0][0] < _LONGEST_SECONDS:
        await anyio.sleep(_LOOK_SECONDS)
        looks.append((time.perf_counter(), tree_cpu_seconds(pid)))
        if idle_after(looks) is not None:
            break
    return looks
