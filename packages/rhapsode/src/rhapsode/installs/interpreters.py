"""Which Python an engine's virtualenv is made with."""

import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from platform import python_version
from typing import Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from rhapsode_contract import Internal

from rhapsode.installs.command import Command, run

_VERSION: Final = re.compile(r"\d+(?:\.\d+){0,2}")

_ASK: Final = "import sys; print('%d.%d.%d' % sys.version_info[:3])"


def is_inside(version: str, python: str) -> bool:
    """Whether a version of Python is in a range.

    Args:
        version: `3.12.4`, for example.
        python: A specifier set, such as `>=3.11,<3.14`.
    """
    try:
        return SpecifierSet(python).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return False


def find_interpreter(python: str, path: str | None) -> str | None:
    """Returns the path of the configured interpreter, or None where there is none.

    Args:
        python: `install.python`: a version, a name or a path.
        path: The folders to look in, as `PATH` has them.
    """
    if "/" in python:
        return written_out(python)
    if not _VERSION.fullmatch(python):
        return shutil.which(python, path=path)
    major, *rest = python.split(".")
    found = shutil.which(".".join((f"python{major}", *rest[:1])), path=path)
    # The core's own need not be on the path.
    return (
        sys.executable if found is None and is_inside(python_version(), f"=={python}.*") else found
    )


def written_out(python: str) -> str:
    """Returns `install.python` as a program takes it: a path without `~`."""
    return str(Path(python).expanduser()) if "/" in python else python


async def ask_version(interpreter: str, environment: Mapping[str, str], cwd: Path) -> str:
    """Returns the version that an interpreter says it is.

    Raises:
        Internal: It cannot be run, or says something else.
    """
    command = Command((interpreter, "-c", _ASK), environment, cwd)
    said = await run(command)
    if not said or not _VERSION.fullmatch(said[-1]):
        raise Internal(f"`{command}` said no version of Python")
    return said[-1]
