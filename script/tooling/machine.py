"""Programs from outside Python that tests and measurements use, through the system's packages."""

import os
import shutil
from dataclasses import dataclass

from commands import CommandFailed, run_quietly, say


@dataclass(frozen=True)
class Program:
    """A command that has to be on the PATH."""

    name: str

    package: str
    """What Debian calls the package that brings it."""


FFMPEG = Program("ffmpeg", "ffmpeg")
CURL = Program("curl", "curl")
GIT = Program("git", "git")
NGINX = Program("nginx", "nginx-light")


def need(*programs: Program) -> None:
    """Sees to it that the programs are there: installs them if we may.

    Raises:
        CommandFailed: Some are missing and cannot be installed from here; names them all.
    """
    missing = [program for program in programs if _path(program) is None]
    if not missing:
        return
    packages = [program.package for program in missing]
    names = ", ".join(program.name for program in missing)
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise CommandFailed(
            f"missing: {names}. Install them first; on Debian or Ubuntu: "
            f"sudo apt-get install {' '.join(packages)}"
        )
    say(f"  installing {names} …")
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    run_quietly("reading the package lists", ["apt-get", "update", "--quiet"])
    run_quietly(
        f"installing {names}",
        [*environment, "apt-get", "install", "--yes", "--no-install-recommends", *packages],
    )


def _path(program: Program) -> str | None:
    # nginx lies in sbin, which a user's PATH may lack.
    return shutil.which(program.name) or shutil.which(program.name, path="/usr/sbin:/sbin")
