"""All of it, in one run: everything is up at once and asked in turn, on loopback."""

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.library import Library, library_process
from bench.processes import ROOT, core, free_port, other
from bench.rivals.alone import measure_alone
from bench.rivals.at_once import measure_at_once
from bench.rivals.homes import HOME, OUR_WEIGHTS, NotInstalled, arrange_weights, install
from bench.rivals.leaving import measure_health, measure_leaving
from bench.rivals.roster import GRAPH_NAME, LIBRARY, OUR_WAYS, RIVALS, VOICE, VOICES_NAME, Rival
from bench.rivals.tables import show_alone, show_at_once, show_leaving
from bench.rivals.target import Target, speak

_VENV: Final = ROOT / ".venv"
_PROGRAM: Final = ROOT / "bench" / "rivals" / "library.py"
_AT_ONCE_ROUNDS: Final = 2
"""More of them are no news: every server is as fast with the same texts every time."""


def measure(rounds: int) -> dict[str, Any]:
    """Runs it and prints it; a single round leaves out what is asked at once."""
    arrange_weights()
    library_python = install("library", LIBRARY) / "python"
    weights = HOME / "weights"
    command = [library_python, "-P", _PROGRAM, weights / GRAPH_NAME, weights / VOICES_NAME, VOICE]
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as name,
        library_process(command) as library,
        ExitStack() as stack,
    ):
        targets = [stack.enter_context(_ours(Path(name)))]
        for rival in RIVALS:
            try:
                targets.append(stack.enter_context(_started(rival)))
            except (NotInstalled, RuntimeError) as error:
                print(f"{rival.name} is left out: {error}")
        return anyio.run(_measure, library, targets, rounds)


@contextmanager
def _ours(folder: Path) -> Generator[Target]:
    entry = {"venv": str(_VENV), "env": {"RHAPSODE_WEIGHTS_DIR": str(OUR_WEIGHTS)}}
    with core({"kokoro": entry}, folder) as running:
        yield Target("rhapsode", running, OUR_WAYS)


@contextmanager
def _started(rival: Rival) -> Generator[Target]:
    programs = install(rival.name, rival.requirements)
    port = free_port()
    places = {"bin": programs, "home": HOME, "port": port}
    command = [word.format(**places) for word in rival.command]
    environment = {name: text.format(**places) for name, text in rival.environment.items()}
    with other(command, port, HOME / f"{rival.name}.log", environment) as running:
        yield Target(rival.name, running, rival.ways, rival.health)


async def _measure(library: Library, started: Sequence[Target], rounds: int) -> dict[str, Any]:
    figures: dict[str, Any] = {"load before": os.getloadavg()[0]}
    async with AsyncExitStack() as stack:
        clients = {
            target.name: await stack.enter_async_context(Client(target.running.address))
            for target in started
        }
        targets = [target for target in started if await _can_speak(target, clients[target.name])]
        figures["alone"] = await measure_alone(library, targets, clients, rounds)
        show_alone(figures["alone"])
        if rounds > 1:
            at_once = await measure_at_once(library, targets, clients, _AT_ONCE_ROUNDS)
            figures["at once"] = at_once
            show_at_once(at_once)
        figures["left"] = {
            target.name: {
                "leaving": await measure_leaving(target, clients[target.name]),
                "health": await measure_health(target, clients[target.name]),
            }
            for target in targets
        }
        show_leaving(figures["left"])
    return {**figures, "load after": os.getloadavg()[0]}


async def _can_speak(target: Target, client: Client) -> bool:
    """Has it speak once in each way, which is also when some load their model."""
    for name, way in target.ways.items():
        spoken = await speak(client, way, "Hello.")
        if spoken.failure:
            print(f"{target.name} is left out: {name}, {spoken.failure}")
            return False
    return True
