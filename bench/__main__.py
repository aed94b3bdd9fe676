"""`python -m bench [overhead hibari kokoro load start switch rivals] [--quick]`."""

import argparse
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import hibari, kokoro, load, overhead, rivals, start, switch
from bench.figures import write

_RESULTS = Path(__file__).parent / "results"

PARTS: dict[str, tuple[Callable[[int], dict[str, Any]], int, int]] = {
    "overhead": (overhead.measure, 1000, 100),
    "hibari": (hibari.measure, 20, 5),
    "kokoro": (kokoro.measure, 7, 2),
    "load": (load.measure, 4, 1),
    "start": (start.measure, 7, 2),
    "switch": (switch.measure, 30, 6),
    "rivals": (rivals.measure, 3, 1),
}
"""What each part runs, and how many rounds, in full and quickly."""

_NAMED_ONLY = {"rivals"}
"""Those that install a gigabyte of other people's software first."""


def main() -> None:
    """Runs the parts that were asked for, or all of them."""
    parser = argparse.ArgumentParser(prog="bench", description="Measures, beside a reference.")
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, []], help="all but rivals where none is named"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    asked = parser.parse_args()
    machine = {
        "cores": os.cpu_count(), "python": platform.python_version(), "load": os.getloadavg()[0]
    }  # fmt: skip
    for name in asked.parts or [name for name in PARTS if name not in _NAMED_ONLY]:
        measure, rounds, quick_rounds = PARTS[name]
        figures = measure(quick_rounds if asked.quick else rounds)
        write(_RESULTS / f"{name}.json", {"machine": machine, name: figures})
    print(f"\nThe figures are in {_RESULTS}.")


if __name__ == "__main__":
    main()
