"""What the state database says, as the settings see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class DatabaseContents:
    """Engines that were installed, and settings that were written."""

    path: Path
    """Of the database, for messages."""

    engines: Mapping[str, Mapping[str, Any]]
    """Entries as a config file would spell them, by engine."""

    settings: Mapping[str, Any]
    """JSON's own values, by dotted key."""
