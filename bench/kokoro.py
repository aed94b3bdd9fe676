"""Kokoro, int8, through the server against onnxruntime called directly, in one run."""

import tempfile
from pathlib import Path
from typing import Any, Final

import anyio
from rhapsode_http import Client

from bench.asking import Answer
from bench.figures import ms, show
from bench.hibari import PARAGRAPH, SENTENCE
from bench.library import BYTES_A_SAMPLE, Library, compare, library_process
from bench.processes import ROOT, Running, core

_WEIGHTS: Final = ROOT / ".cache" / "kokoro"
"""Fetched by `script/test` and by `script/bench`."""

_VENV: Final = ROOT / ".venv"
_LIBRARY: Final = (
    *(_VENV / "bin" / "python", "-P", ROOT / "bench" / "kokoro_library.py"),
    *(_WEIGHTS / "kokoro-v1.0.int8.onnx", _WEIGHTS / "voices-v1.0.f32"),
)
_WARM_ROUNDS: Final = 1
_TEXTS: Final = {"sentence": SENTENCE, "paragraph": PARAGRAPH, "yes": f"Yes, {SENTENCE}"}

WANTED_KEPT: Final = 0.97
WANTED_FIRST_SECONDS: Final = 1.0


def measure(rounds: int) -> dict[str, Any]:
    """Runs it and prints it."""
    entry = {"venv": str(_VENV), "env": {"RHAPSODE_WEIGHTS_DIR": str(_WEIGHTS)}}
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as name,
        library_process(_LIBRARY) as library,
        core({"kokoro": entry}, Path(name)) as server,
    ):
        return anyio.run(_measure, library, server, rounds)


async def _measure(library: Library, server: Running, rounds: int) -> dict[str, Any]:
    async with Client(server.address) as client:
        figures = {
            name: await _compare(library, client, text, rounds) for name, text in _TEXTS.items()
        }
    _print(figures)
    return figures


async def _compare(library: Library, client: Client, text: str, rounds: int) -> dict[str, Any]:
    """Asks both in turn; returns also how long a player of the server's audio stands still."""
    body = {"engine": "kokoro", "variant": "int8", "text": text, "format": "pcm", "stream": True}
    answers: list[Answer] = []
    figures = await compare(
        library, client, body, rounds, warm_rounds=_WARM_ROUNDS, answers=answers
    )
    stalls = [_stall_seconds(answer.arrivals_ns, library.rate) for answer in answers]
    return {**figures, "stall": max(stalls)}


def _stall_seconds(arrivals_ns: list[tuple[int, bytes]], rate: int) -> float:
    """Returns how long a player that starts at once stands still before it has played it all."""
    stalled = 0.0
    begun = arrivals_ns[0][0] / 1e9
    played = 0.0
    for arrived_ns, piece in arrivals_ns:
        late = arrived_ns / 1e9 - (begun + played + stalled)
        stalled += max(0.0, late)
        played += len(piece) / BYTES_A_SAMPLE / rate
    return stalled


def _print(figures: dict[str, Any]) -> None:
    rows: list[tuple[str, ...]] = []
    for name, of_text in figures.items():
        first, total, audio = of_text["first audio"], of_text["total"], of_text["audio seconds"]
        library, server = total["library"]["p50"], total["server"]["p50"]
        rows.append(
            (name, ms(first["library"]["p50"]), ms(first["server"]["p50"]),
             f"{audio['library'] / library:.2f}", f"{audio['server'] / server:.2f}",
             f"{library / server:.3f}", f"{of_text['stall']:.2f} s")
        )  # fmt: skip
    show(
        "kokoro: onnxruntime alone, sentence by sentence, and through the server",
        ("", "first, alone", "first, server", "x real time", "served", "kept", "stall"),
        rows,
        "kept compares the time that the same text takes;"
        f" wanted: {WANTED_KEPT} of it, and the first audio within {WANTED_FIRST_SECONDS:g} s",
    )
