"""The figures, for people."""

from collections.abc import Mapping
from typing import Any

from bench.figures import ms, show
from bench.rivals.alone import FLOOR


def show_alone(figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Prints a table for each text."""
    for text, of_text in figures.items():
        floor = of_text[FLOOR]
        rows: list[tuple[str, ...]] = []
        for name, row in of_text.items():
            if "first" not in row:
                rows.append((name, *["-"] * 7, str(row["failed"])))
                continue
            rows.append(
                (name, _s(row["first"]), _s(row["total"]), f"{row['audio']:.2f} s",
                 f"{row['x real time']:.2f}", f"{row['x real time'] / floor['x real time']:.3f}",
                 f"{floor['total'] / row['total']:.3f}", f"{row['longest stall']:.2f} s",
                 str(row["failed"]))
            )  # fmt: skip
        show(
            f"kokoro int8, {text}, one at a time",
            ("", "first", "total", "audio", "x real time", "of it", "in time", "stall", "failed"),
            rows,
            "medians; `of it`: of the library's x real time; `in time`: the library's time for"
            " the same text over this one's",
        )


def show_at_once(figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Prints a table for each number of requests."""
    for level, of_level in figures.items():
        show(
            f"kokoro int8, {level} texts at once",
            ("", "audio a second", "first, p50", "first, p95", "as alone", "failed"),
            [
                (name, f"{row['audio a second']:.2f} s", _s(row["first"]["p50"]),
                 _s(row["first"]["p95"]),
                 f"{row['equal']} of {row['asked']}" if "equal" in row else "",
                 str(row.get("failed", "")))
                for name, row in of_level.items()
            ],
        )  # fmt: skip


def show_leaving(figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Prints how long each works for nobody, and how soon it answers a monitor meanwhile."""
    rows: list[tuple[str, ...]] = []
    for name, of_server in figures.items():
        cells = [_left(of_server["leaving"].get(way)) for way in ("streamed", "buffered")]
        health = of_server["health"]
        rows.append((name, *cells, ms(health["p50"]), ms(health["max"])))
    show(
        "kokoro int8, a listener leaves: seconds until idle, of the whole answer's",
        ("", "streamed", "buffered", "health while it speaks, p50", "max"),
        rows,
        "streamed: left at the first sound; buffered: left after a fifth of its time",
    )


def _left(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "-"
    if "failure" in row:
        return "failed"
    idle = row["idle after"]
    return f"{'never' if idle is None else _s(idle)} of {_s(row['whole seconds'])}"


def _s(seconds: float) -> str:
    return f"{seconds:.2f} s"
