"""What is installed in the virtualenv of an engine, read without starting anything (§ 9)."""

from importlib.metadata import distributions
from pathlib import Path
from typing import Final

from rhapsode.version import VERSION

_SDK: Final = "rhapsode-worker"


def worker_version_in(venv: Path) -> str | None:
    """Returns the version of the worker SDK in a virtualenv; None where nobody can say.

    Reads files, as few as there are distributions of that name.
    """
    folders = [str(folder) for folder in venv.glob("lib/python3*/site-packages")]
    try:
        versions = {found.version for found in distributions(name=_SDK, path=folders)}
    except (OSError, ValueError, KeyError):
        return None  # metadata that cannot be read is none that a number should be made of
    # Two of them are what an interrupted install leaves; which one is imported is anybody's guess.
    return versions.pop() or None if len(versions) == 1 else None


def is_outdated(worker_version: str | None) -> bool | None:
    """Whether a worker's SDK is not this core's, older or newer; None where it is not known."""
    return None if worker_version is None else worker_version != VERSION
