"""Several texts at once: how much is spoken, how long it takes, and whether it is the right one."""

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.figures import percentile
from bench.library import Library
from bench.rivals.alone import FLOOR
from bench.rivals.target import Spoken, Target, speak
from bench.rivals.texts import EIGHT

LEVELS: Final = (4, 8)


async def measure_at_once(
    library: Library, targets: Sequence[Target], clients: Mapping[str, Client], rounds: int
) -> dict[str, dict[str, Any]]:
    """Returns the figures of each server for each number of requests at once."""
    alone = {
        target.name: [
            await speak(clients[target.name], target.ways[target.first_way], text) for text in EIGHT
        ]
        for target in targets
    }
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for number in range(rounds):
        for level in LEVELS:
            of_level = found.setdefault(str(level), {})
            of_level.setdefault(FLOOR, []).append(_library_at_once(library, EIGHT[:level]))
            for target in reversed(targets) if number % 2 else targets:
                spoken, seconds = await _ask_at_once(clients[target.name], target, EIGHT[:level])
                figures = _figures(spoken, seconds, alone[target.name])
                of_level.setdefault(target.name, []).append(figures)
    return {
        level: {name: _summary(rounds) for name, rounds in of_level.items()}
        for level, of_level in found.items()
    }


async def _ask_at_once(
    client: Client, target: Target, texts: Sequence[str]
) -> tuple[list[Spoken], float]:
    """Returns the answers in the order of the texts, and the seconds until the last one."""
    spoken = [Spoken(failure="not asked")] * len(texts)

    async def ask(index: int) -> None:
        spoken[index] = await speak(client, target.ways[target.first_way], texts[index])

    begun = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for index in range(len(texts)):
            tasks.start_soon(ask, index)
    return spoken, time.perf_counter() - begun


def _library_at_once(library: Library, texts: Sequence[str]) -> dict[str, Any]:
    answer = library.speak_at_once(texts)
    audio = sum(each["samples"] for each in answer["spoken"]) / library.rate
    return {
        "audio a second": audio / answer["total"],
        "seconds": answer["total"],
        "firsts": [each["first"] for each in answer["spoken"]],
    }


def _figures(spoken: Sequence[Spoken], seconds: float, alone: Sequence[Spoken]) -> dict[str, Any]:
    answers = [each for each in spoken if not each.failure]
    return {
        "audio a second": sum(each.audio_seconds for each in answers) / seconds,
        "seconds": seconds,
        "firsts": [each.first_seconds for each in answers],
        "equal": sum(
            not each.failure and each.samples == other.samples
            for each, other in zip(spoken, alone, strict=False)
        ),
        "asked": len(spoken),
        "failed": len(spoken) - len(answers),
    }


def _summary(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    firsts = [first for each in rounds for first in each["firsts"]]
    return {
        "audio a second": statistics.median(each["audio a second"] for each in rounds),
        "seconds": statistics.median(each["seconds"] for each in rounds),
        "first": {"p50": statistics.median(firsts), "p95": percentile(firsts, 95)},
        **{
            key: sum(each[key] for each in rounds)
            for key in ("equal", "asked", "failed")
            if key in rounds[0]
        },
    }
