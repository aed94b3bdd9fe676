"""Figures: summaries of samples, tables for people, JSON for machines."""

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def percentile(samples: Sequence[float], percent: int) -> float:
    """Returns the smallest sample that `percent` of them do not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def summary(samples: Sequence[float]) -> dict[str, float]:
    """Returns median and 99th percentile."""
    return {"p50": statistics.median(samples), "p99": percentile(samples, 99)}


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
    """Prints a table."""
    table = Table(title=title, title_justify="left", caption=note, caption_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=110).print(table)


def write(path: Path, figures: dict[str, Any]) -> None:
    """Writes the figures as JSON, the folder made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def ms(seconds: float) -> str:
    """Returns a time for a table."""
    return f"{seconds * 1000:.2f} ms"


def mb(size_bytes: float) -> str:
    """Returns a size for a table."""
    return f"{size_bytes / 1e6:.1f} MB"
