"""How this rhapsode came to the box, which decides the instructions that a person is shown."""

from pathlib import Path
from typing import Final, Literal

Distribution = Literal["docker", "source"]

MARKER: Final = Path("/etc/rhapsode/distribution")
"""A file of the published image that holds the word `docker`; nothing else on a box writes it."""

_MARKER_BYTES: Final = 64


def read_distribution(marker: Path = MARKER) -> Distribution:
    """Returns what the marker says; `source` where it is not there or says something else."""
    try:
        with marker.open("rb") as file:
            said = file.read(_MARKER_BYTES)
    except OSError:
        return "source"
    return "docker" if said.strip() == b"docker" else "source"
