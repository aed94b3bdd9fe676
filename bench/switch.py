"""What it costs to change engines on a full card, beside the same change made by hand."""

import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from sys import executable, prefix
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.asking import ask
from bench.figures import ms, show, summary
from bench.processes import ROOT, Running, core, worker

WANTED_SECONDS: Final = 0.05
_UNCOUNTED: Final = 2
"""Rounds that find things uncompiled and uncached."""

_MODULE: Final = "bench.engine"
_ENGINES: Final = ("one", "two")
_SMALL: Final = {"text": "small", "voice": "small", "format": "pcm"}


def measure(rounds: int) -> dict[str, Any]:
    """Runs it and prints it."""
    entries = {engine: {"venv": prefix, "module": _MODULE, "cwd": str(ROOT)} for engine in _ENGINES}
    own: list[float] = []
    switches: list[float] = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as name,
        core(entries, Path(name)) as server,
        _ByHand(Path(name)) as by_hand,
    ):
        for number in range(_UNCOUNTED + rounds):
            # In turn, so that whatever disturbs the machine disturbs both, and so that both leave
            # processes idle for as long: what has been idle is slow to wake, and to end.
            engine = _ENGINES[number % 2]
            own.append(by_hand.change(engine))
            switches.append(anyio.run(_change, server, engine))
    own, switches = own[_UNCOUNTED:], switches[_UNCOUNTED:]
    added = [switch - hand for switch, hand in zip(switches, own, strict=True)]
    figures = {"own": summary(own), "switch": summary(switches), "added": summary(added)}
    show(
        "A change of engines with one place",
        ("", "p50", "p99"),
        [
            (what, ms(figures[key]["p50"]), ms(figures[key]["p99"]))
            for what, key in (
                ("by hand: start, exit of the other, load and speech", "own"),
                ("a request that changes engines", "switch"),
            )
        ],
        f"added: {ms(figures['added']['p50'])}, wanted at most {ms(WANTED_SECONDS)}",
    )
    return figures


async def _change(server: Running, engine: str) -> float:
    async with Client(server.address) as client:
        # It was idle all the while, and the hand was not.
        async with await client.request("GET", "/engines") as response:
            await response.read_all(limit_bytes=65_536)
        return (await ask(client, {**_SMALL, "engine": engine})).total_seconds


class _ByHand:
    """Changes engines as the core does, with nothing between its client and the workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held = ExitStack()
        self._running: Running | None = None

    def __enter__(self) -> "_ByHand":
        return self

    def __exit__(self, *failure: object) -> None:
        self._held.close()

    def change(self, engine: str) -> float:
        """Returns how long it takes from nothing of an engine to all of its speech, in seconds."""
        begun = time.perf_counter()
        with ExitStack() as held:
            started = worker(Path(executable), _MODULE, engine, self._folder)
            running = held.enter_context(started)
            if self._running is not None:
                anyio.run(_terminate, self._running)
                os.waitid(os.P_PID, self._running.pid, os.WEXITED | os.WNOWAIT)
            anyio.run(_speak, running)
            taken = time.perf_counter() - begun
            self._held.close()
            self._held, self._running = held.pop_all(), running
        return taken


async def _terminate(running: Running) -> None:
    async with (
        Client(running.address) as client,
        await client.request("POST", "/terminate") as response,
    ):
        await response.read_all(limit_bytes=1024)


async def _speak(running: Running) -> None:
    async with Client(running.address) as client:
        await ask(client, _SMALL)
