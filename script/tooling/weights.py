"""Weights that tests and measurements need, fetched once into this checkout."""

from commands import ROOT, run_quietly, say
from environments import DEVELOPMENT

KOKORO = ROOT / ".cache" / "kokoro"

_FETCH = """
import os, sys
from pathlib import Path
from rhapsode_engine_kokoro import KokoroEngine
engine = KokoroEngine(os.environ)
engine.weights_dir = Path(sys.argv[1])
engine.fetch("int8")
"""


def fetch_kokoro() -> None:
    """Fetches Kokoro's `int8` graph and its voices as the engine does; at once where they are.

    Raises:
        CommandFailed: They cannot be had.
    """
    if not (KOKORO / ".verified.json").exists():
        say("  fetching Kokoro's weights, 121 MB …")
    run_quietly("fetching Kokoro's weights", [DEVELOPMENT.python, "-c", _FETCH, KOKORO])
