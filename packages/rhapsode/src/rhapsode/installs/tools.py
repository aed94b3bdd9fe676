"""The programs that make a virtualenv and fill it: uv where there is one, else venv and pip."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, Protocol

from packaging.version import InvalidVersion, Version

BUILD_LOCK: Final = Path(__file__).with_name("build-constraints.txt")
"""What our packages are built with, with hashes. `script/lock` pins the same."""

_PIP_WITH_BUILD_LOCKS: Final = Version("25.3")
_NONE: Final = Version("0")

Words = tuple[str, ...]


def python_of(slot: Path) -> Path:
    """Returns the interpreter of a virtualenv."""
    return slot / "bin" / "python"


class Tool(Protocol):
    """Says what to run; runs nothing."""

    def create(self, python: str, slot: Path) -> Words:
        """Returns the command that makes a virtualenv where nothing is.

        Args:
            python: The interpreter, as far as the tool can find one itself.
            slot: Where.
        """
        ...

    def install(self, slot: Path, arguments: Words) -> Words:
        """Returns the command that installs into a virtualenv that is there."""
        ...

    def build_lock(self, slot: Path) -> Words:
        """Returns the arguments that hold what builds our packages to `BUILD_LOCK`."""
        ...

    def refresh(self, packages: Words) -> Words:
        """Returns the arguments that have folders built as they are now."""
        ...


@dataclass(frozen=True)
class Uv:
    """uv, which finds or fetches an interpreter itself."""

    program: str

    trusted_hosts: Words

    def create(self, python: str, slot: Path) -> Words:
        """See `Tool`. `python` may be a range too."""
        return (self.program, "venv", "--no-project", *self._trust(), "--python", python, str(slot))

    def install(self, slot: Path, arguments: Words) -> Words:
        """See `Tool`."""
        python = str(python_of(slot))
        return (self.program, "pip", "install", *self._trust(), "--python", python, *arguments)

    def build_lock(self, slot: Path) -> Words:
        """See `Tool`."""
        return ("--build-constraints", str(BUILD_LOCK))

    def refresh(self, packages: Words) -> Words:
        """See `Tool`. uv would take a wheel that it once built of a folder as long as the folder's
        metadata is as it was, whatever its code has become.
        """
        return tuple(chain.from_iterable(("--refresh-package", name) for name in packages))

    def _trust(self) -> Words:
        return tuple(chain.from_iterable(("--allow-insecure-host", h) for h in self.trusted_hosts))


@dataclass(frozen=True)
class VenvAndPip:
    """What comes with an interpreter."""

    trusted_hosts: Words

    def create(self, python: str, slot: Path) -> Words:
        """See `Tool`. `python` is the path of one."""
        return (python, "-m", "venv", str(slot))

    def install(self, slot: Path, arguments: Words) -> Words:
        """See `Tool`."""
        # Isolated from the folder that it runs in, where a package might lie.
        pip = (str(python_of(slot)), "-I", "-m", "pip", "install")
        trust = chain.from_iterable(("--trusted-host", host) for host in self.trusted_hosts)
        return (*pip, *trust, *arguments)

    def build_lock(self, slot: Path) -> Words:
        """See `Tool`. An older pip, which comes with the interpreter, knows no such thing."""
        found = max(
            map(_version_of, slot.glob("lib/python*/site-packages/pip-*.dist-info")), default=_NONE
        )
        return ("--build-constraint", str(BUILD_LOCK)) if found >= _PIP_WITH_BUILD_LOCKS else ()

    def refresh(self, packages: Words) -> Words:
        """See `Tool`. pip keeps no wheel of a folder."""
        return ()


def find_uv(environ: Mapping[str, str], programs: Path) -> str | None:
    """Returns the path of uv: from the `PATH`, else beside the core's own programs.

    Args:
        environ: The core's own.
        programs: Where the core's interpreter lies, and uv where it was installed as a wheel.
    """
    return shutil.which("uv", path=environ.get("PATH", "")) or shutil.which("uv", path=programs)


def _version_of(metadata: Path) -> Version:
    """Returns the version in the name of an installed distribution's metadata."""
    try:
        return Version(metadata.name.removesuffix(".dist-info").partition("-")[2])
    except InvalidVersion:
        return _NONE
