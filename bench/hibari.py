"""hibari through the server against the library called directly, in one run."""

import tempfile
from pathlib import Path
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.asking import ask
from bench.figures import ms, show, summary
from bench.library import Library, compare, library_process
from bench.processes import ROOT, Running, core

VENV: Final = ROOT / ".cache" / "hibari"
"""Made by `script/bench`, as `script/quickstart` makes it."""

_PROGRAM: Final = ROOT / "bench" / "hibari_library.py"
_WARM_ROUNDS: Final = 2

SENTENCE: Final = (
    "A narrow road follows the river down to the old mill, where the miller's daughter still"
    " sells bread, honey and apples every Saturday in summer."
)
PARAGRAPH: Final = (
    "Nobody in the village remembers who planted the orchard. Some say that it was a monk, who"
    " carried the first saplings over the pass in a basket. Others believe that a merchant's"
    " cart overturned here, and that the trees grew from what was lost. Whatever the truth may"
    " be, the trees are older than the church, and their fruit is sweeter than any that the"
    " market has to offer. Every autumn the families climb the hill with ladders and baskets,"
    " and for three days nobody goes to work. The children gather what has fallen, the parents"
    " pick what they can reach, and the grandparents sit in the shade and tell the same stories"
    " as last year. On the last evening there is music, and a long table under the lanterns."
)

LONG: Final = "\n\n".join([PARAGRAPH] * 6)[:4_000]
FIRST_SEGMENT: Final = LONG.partition(". ")[0] + "."
"""What of it the engine makes first: a sentence."""

WANTED_FIRST_AUDIO_RATIO: Final = 1.3


def measure(rounds: int) -> dict[str, Any]:
    """Runs it and prints it."""
    entry = {"venv": str(VENV)}
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as name,
        library_process([VENV / "bin" / "python", "-P", _PROGRAM]) as library,
        core({"hibari": entry}, Path(name)) as server,
    ):
        return anyio.run(_measure, library, server, rounds)


async def _measure(library: Library, server: Running, rounds: int) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    async with Client(server.address) as client:
        for name, text in (("sentence", SENTENCE), ("paragraph", PARAGRAPH)):
            figures[name] = await _compare(library, client, text, rounds)
        long_text = await _first_audio(client, rounds)
    _print(figures)
    _print_long(long_text)
    return {**figures, "long text": long_text}


async def _first_audio(client: Client, rounds: int) -> dict[str, dict[str, float]]:
    """Asks for a long text and for its first segment alone, in turn: seconds to the first audio."""
    first: dict[str, list[float]] = {"first segment alone": [], "whole text": []}
    texts = {"first segment alone": FIRST_SEGMENT, "whole text": LONG}
    for number in range(rounds + _WARM_ROUNDS):
        for name, text in texts.items():
            body = {"engine": "hibari", "text": text, "format": "pcm", "stream": True}
            served = await ask(client, body)
            if number >= _WARM_ROUNDS:
                first[name].append(served.first_byte_seconds)
    return {name: summary(samples) for name, samples in first.items()}


async def _compare(library: Library, client: Client, text: str, rounds: int) -> dict[str, Any]:
    body = {"engine": "hibari", "text": text, "format": "pcm", "stream": True}
    return await compare(library, client, body, rounds, warm_rounds=_WARM_ROUNDS)


def _print(figures: dict[str, Any]) -> None:
    rows: list[tuple[str, ...]] = []
    for name, of_text in figures.items():
        first, total, audio = of_text["first audio"], of_text["total"], of_text["audio seconds"]
        later = first["server"]["p50"] - first["library"]["p50"]
        kept = total["library"]["p50"] / total["server"]["p50"]
        real_time = audio["library"] / total["library"]["p50"]
        rows.append(
            (name, ms(first["library"]["p50"]), ms(first["server"]["p50"]), ms(later),
             f"{real_time:.0f}", f"{real_time * kept:.0f}", f"{kept:.3f}")
        )  # fmt: skip
    show(
        "hibari: the library alone, and through the server",
        ("", "first, library", "first, server", "later", "x real time", "served", "kept"),
        rows,
        "x real time counts the library's audio seconds for both: the same text, the same work",
    )


def _print_long(first: dict[str, dict[str, float]]) -> None:
    alone, whole = first["first segment alone"]["p50"], first["whole text"]["p50"]
    show(
        f"hibari: the first audio of {len(LONG):,} characters",
        ("", "p50", "p99"),
        [(name, ms(times["p50"]), ms(times["p99"])) for name, times in first.items()],
        f"{whole / alone:.2f} times its first segment alone;"
        f" wanted: {WANTED_FIRST_AUDIO_RATIO} at most",
    )
