"""A server with real workers, for tests that want no more of it than its URL."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .core_process import core

ROOT: Final = Path(__file__).parents[2]

HIBARI: Final = ROOT / ".cache" / "hibari"
"""Where `script/test` puts the real engine."""


@contextmanager
def serving(folder: Path, engines: str) -> Generator[str]:
    """Runs `rhapsode serve` for the length of a block; yields its URL.

    Args:
        folder: An empty one, for the config, the database and the log.
        engines: The `[engines.…]` tables of the config.
    """
    with core(folder, engines) as running:
        yield running.url


def hibari() -> str:
    """Returns the table of the real engine."""
    return f'[engines.hibari]\nvenv = "{HIBARI}"\n\n'
