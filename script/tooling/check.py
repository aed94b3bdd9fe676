"""Checks format, lint, types and import rules, and that each library stands alone."""

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from commands import ROOT, CommandFailed, fail, run_quietly, say, show
from environment import PACKAGES, prepare
from environments import DEVELOPMENT
from requirements import needs_of

LIBRARIES = {
    "rhapsode-contract": (),
    "rhapsode-http": ("rhapsode-contract",),
    "rhapsode-worker": ("rhapsode-contract", "rhapsode-http"),
}
"""What others install without the server, and which of our packages each may bring."""

TEST_ENGINE = "rhapsode-engine-tone"
"""What the tests of the SDK run in processes of their own."""

TEST_TOOLS = ("httpx", "hypothesis", "numpy", "pytest", "pytest-timeout", "pytest-xdist")


def main() -> int:
    """Returns the exit code: 1 if any check failed, after all have run."""
    try:
        prepare(DEVELOPMENT)
    except CommandFailed as error:
        return fail("check", error)
    checks: dict[str, Callable[[], bool]] = {
        "format": lambda: _runs("ruff", "format", "--check", "--quiet"),
        "lint": lambda: _runs("ruff", "check", "--quiet"),
        "types": lambda: _runs("pyright"),
        "imports": lambda: _runs("lint-imports", "--no-cache"),
        "alone": _stands_alone,
    }
    if "--lowest" in sys.argv[1:]:
        checks["lowest versions"] = _works_at_lowest_versions
    failed = [name for name, check in checks.items() if not _passes(name, check)]
    if failed:
        return fail("check", f"failed: {', '.join(failed)}")
    say("All checks passed.")
    return 0


def _passes(name: str, check: Callable[[], bool]) -> bool:
    say(f"== {name}")
    try:
        return check()
    except CommandFailed as error:
        fail("check", error)
        return False


def _runs(program: str, *words: str) -> bool:
    return show([DEVELOPMENT.program(program), *words]) == 0


def _stands_alone() -> bool:
    """Installs each library with what it asks for and nothing else, and imports it."""
    with tempfile.TemporaryDirectory() as folder:
        wheels = _wheels(Path(folder), LIBRARIES)
        for library, friends in LIBRARIES.items():
            python = _empty(Path(folder) / library)
            ours = [wheel for wheel in wheels if _package(wheel) in (library, *friends)]
            _install(python, ours, "--constraints", ROOT / "constraints.txt")
            module = library.replace("-", "_")
            run_quietly(f"importing {library} alone", [python, "-I", "-c", f"import {module}"])
            say(f"  {library} installs and imports alone")
    return True


def _works_at_lowest_versions() -> bool:
    """Runs the libraries' tests with the oldest versions that their metadata allows."""
    with tempfile.TemporaryDirectory() as folder:
        python = _empty(Path(folder) / "lowest")
        # Named one by one: only what is asked for directly is taken at its lowest.
        ours = [*LIBRARIES, TEST_ENGINE]
        wanted = [str(wheel) for wheel in _wheels(Path(folder), ours)] + needs_of(ours)
        lowest = ("--resolution", "lowest-direct", "--only-binary", ":all:")
        _install(python, wanted + _pinned(TEST_TOOLS), *lowest)
        # From wheels, as a user has them: the checkout's sources are not on this path.
        tests = [PACKAGES / library / "tests" for library in LIBRARIES]
        # What an old version warns of is not ours to mend.
        pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "60"]
        pytest += ["-n", "auto", "--dist", "loadfile", "-o", "filterwarnings=default"]
        return show([*pytest, *tests]) == 0


def _pinned(names: Iterable[str]) -> list[str]:
    """Returns requirements for the locked versions of packages."""
    locks = [ROOT / "constraints.txt", ROOT / "constraints-dev.txt"]
    lines = [line for lock in locks for line in lock.read_text(encoding="utf-8").splitlines()]
    pins = [line.removesuffix(" \\") for line in lines if not line.startswith(" ")]
    return [pin for pin in pins if pin.partition("==")[0] in names]


def _wheels(folder: Path, packages: Iterable[str]) -> list[Path]:
    sources = [PACKAGES / package for package in packages]
    run_quietly(
        "building our packages",
        [DEVELOPMENT.python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
        + ["--no-build-isolation", "--wheel-dir", folder, *sources],
    )
    return sorted(folder.glob("*.whl"))


def _package(wheel: Path) -> str:
    return wheel.name.split("-")[0].replace("_", "-")


def _empty(folder: Path) -> Path:
    """Makes a virtualenv with pip alone, as `venv` does; returns its interpreter."""
    command = [DEVELOPMENT.program("uv"), "venv", "--quiet", "--seed", "--python"]
    run_quietly("making a virtualenv", [*command, DEVELOPMENT.python, folder])
    return folder / "bin" / "python"


def _install(python: Path, wanted: list[Path] | list[str], *options: str | Path) -> None:
    command = [DEVELOPMENT.program("uv"), "pip", "install", "--quiet", "--python", python]
    run_quietly("installing", [*command, *options, *wanted])


if __name__ == "__main__":
    sys.exit(main())
