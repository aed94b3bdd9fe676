"""One request at a time: each server in turn, the library first, every second round backwards."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from rhapsode_http import Client

from bench.library import Library
from bench.rivals.target import Spoken, Target, speak
from bench.rivals.texts import PARAGRAPH, SENTENCE, YES

FLOOR: Final = "library"

_TEXTS: Final = {"sentence": SENTENCE, "paragraph": PARAGRAPH, "yes": YES}
_STREAMED_ALONE: Final = {"yes"}
"""Texts that say something about the beginning and nothing about the whole."""

_LONGEST_SECONDS: Final = 1_200
"""No round begins after that: on a busy machine a single one takes ten minutes."""

_Figures = dict[str, float]


async def measure_alone(
    library: Library, targets: Sequence[Target], clients: Mapping[str, Client], rounds: int
) -> dict[str, dict[str, Any]]:
    """Returns the medians of each text for each way of each server, `library` among them."""
    found: dict[str, dict[str, list[_Figures]]] = {}
    begun = time.monotonic()
    for number in range(rounds):
        if number and time.monotonic() - begun > _LONGEST_SECONDS:
            break
        for text_name, text in _TEXTS.items():
            jobs = _jobs(library, targets, clients, text_name, text)
            for name, job in reversed(jobs) if number % 2 else jobs:
                samples = found.setdefault(text_name, {}).setdefault(name, [])
                samples.append(await job())
    return {
        text_name: {name: _medians(samples) for name, samples in of_text.items()}
        for text_name, of_text in found.items()
    }


def _jobs(
    library: Library,
    targets: Sequence[Target],
    clients: Mapping[str, Client],
    text_name: str,
    text: str,
) -> list[tuple[str, Callable[[], Awaitable[_Figures]]]]:
    """Returns everything to ask in one round, by the name of its row."""

    async def floor() -> _Figures:
        spoken = library.speak(text)
        audio = spoken["samples"] / library.rate
        return {"first": spoken["first"], "total": spoken["total"], "audio": audio, "stall": 0.0}

    def job(target: Target, way: str) -> Callable[[], Awaitable[_Figures]]:
        async def ask() -> _Figures:
            return _figures(await speak(clients[target.name], target.ways[way], text))

        return ask

    return [
        (FLOOR, floor),
        *(
            (f"{target.name}, {way}", job(target, way))
            for target in targets
            for way in target.ways
            if way == "streamed" or text_name not in _STREAMED_ALONE
        ),
    ]


def _figures(spoken: Spoken) -> _Figures:
    if spoken.failure:
        return {"failed": 1}
    return {
        "first": spoken.first_seconds,
        "total": spoken.total_seconds,
        "audio": spoken.audio_seconds,
        "stall": spoken.stall_seconds,
    }


def _medians(samples: Sequence[_Figures]) -> dict[str, Any]:
    whole = [sample for sample in samples if "failed" not in sample]
    if not whole:
        return {"failed": len(samples)}
    medians = {
        key: statistics.median(sample[key] for sample in whole)
        for key in ("first", "total", "audio")
    }
    return {
        **medians,
        "x real time": statistics.median(sample["audio"] / sample["total"] for sample in whole),
        "longest stall": max(sample["stall"] for sample in whole),
        "failed": len(samples) - len(whole),
        "totals": [sample["total"] for sample in whole],
    }
