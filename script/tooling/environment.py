"""Virtualenvs made from our locks, made once and made again when what they are made of changes.

Two steps, since pip takes no local folder while it checks hashes: what is pinned, with
`--require-hashes`, then our own packages with `--no-deps`.
"""

import fcntl
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from commands import ROOT, run_quietly, say

PACKAGES = ROOT / "packages"
_STAMP = ".made-from.json"
_UNFINISHED = ".unfinished"


@dataclass(frozen=True)
class Environment:
    """A virtualenv, and everything that is to be in it."""

    name: str
    """What to call it when saying that it is being made."""

    folder: Path

    locks: tuple[Path, ...]
    """Constraints files; with their hashes they name everything from elsewhere."""

    packages: tuple[str, ...] = ()
    """Folders of `packages/`, in any order."""

    is_editable: bool = False
    """Whether our packages are linked, so that a change to the source is a change there."""

    @property
    def python(self) -> Path:
        """The interpreter of the virtualenv."""
        return self.folder / "bin" / "python"

    def program(self, name: str) -> Path:
        """Returns the path of a command that one of the packages brings."""
        return self.folder / "bin" / name


def prepare(environment: Environment, builder: Environment | None = None) -> bool:
    """Makes the virtualenv, or brings it up to date; returns whether there was anything to do.

    An attempt that was interrupted is thrown away. Two runs at once take turns.

    Args:
        environment: What to make.
        builder: An environment with the build backend, needed where our packages are to be
            installed as copies.

    Raises:
        CommandFailed: Something could not be installed.
    """
    with _one_at_a_time():
        wanted, made = ingredients(environment), _recorded(environment)
        unfinished = environment.folder / _UNFINISHED
        is_sound = not unfinished.exists() and _runs(environment.python)
        if is_sound and wanted.items() <= made.items():
            return False
        say(f"  making {environment.name} in {_shown(environment.folder)} …")
        if not is_sound:
            shutil.rmtree(environment.folder, ignore_errors=True)
            made = {}
        environment.folder.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
        _create(environment)
        _install_pinned(environment)
        if environment.packages:
            if environment.is_editable:
                _link_ours(environment)
            else:
                _copy_ours(environment, builder or environment)
        (environment.folder / _STAMP).write_text(json.dumps(made | wanted), encoding="utf-8")
        unfinished.unlink()
        return True


def _create(environment: Environment) -> None:
    if _runs(environment.python):
        return
    command: list[str | Path] = [sys.executable, "-m", "venv", environment.folder]
    if importlib.util.find_spec("ensurepip") is None:
        command.insert(3, "--without-pip")
    run_quietly("making a virtualenv", command)


def _install_pinned(environment: Environment) -> None:
    wanted = [word for lock in environment.locks for word in ("-r", str(lock))]
    run_quietly(
        f"installing what {environment.name} needs",
        [*_pip(environment), "install", "--quiet", "--require-hashes", *wanted],
    )


def _link_ours(environment: Environment) -> None:
    wanted = [word for name in environment.packages for word in ("-e", str(PACKAGES / name))]
    run_quietly(
        f"linking our packages into {environment.name}",
        [*_pip(environment), "install", "--quiet", *_OURS_ONLY, "--no-build-isolation", *wanted],
    )


def _copy_ours(environment: Environment, builder: Environment) -> None:
    with tempfile.TemporaryDirectory() as wheels:
        sources = [PACKAGES / name for name in environment.packages]
        run_quietly(
            "building our packages",
            [*_pip(builder), "wheel", "--quiet", *_OURS_ONLY, "--no-build-isolation"]
            + ["--wheel-dir", wheels, *sources],
        )
        # Forced: a wheel of the same version may hold other code.
        run_quietly(
            f"installing our packages into {environment.name}",
            [*_pip(environment), "install", "--quiet", *_OURS_ONLY, "--force-reinstall"]
            + sorted(Path(wheels).glob("*.whl")),
        )


_OURS_ONLY = ("--no-deps", "--no-index")
"""Our packages come from this checkout and bring nothing along."""


def _pip(environment: Environment) -> list[str | Path]:
    """Returns the pip of the virtualenv, or ours aimed at it where it could be given none."""
    if (environment.folder / "bin" / "pip").exists():
        return [environment.python, "-m", "pip"]
    return [sys.executable, "-m", "pip", "--python", environment.python]


def _runs(python: Path) -> bool:
    if not python.exists():
        return False
    code = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([python, "-c", code], check=False, capture_output=True).returncode == 0


def ingredients(environment: Environment) -> dict[str, str]:
    """Returns a digest of each thing the virtualenv is made from, by name.

    By name, because the server's environment is a part of the development one: either is up to
    date when all of its own ingredients are.
    """
    found = {str(lock.relative_to(ROOT)): _digest([lock]) for lock in environment.locks}
    if environment.packages:
        found["our packages"] = _digest([*_sources(environment)])
    # A virtualenv holds its own path, and links hold the checkout's.
    return found | {"folder": str(environment.folder)}


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _recorded(environment: Environment) -> dict[str, str]:
    stamp = environment.folder / _STAMP
    return json.loads(stamp.read_text(encoding="utf-8")) if stamp.is_file() else {}


def _sources(environment: Environment) -> Iterator[Path]:
    for name in sorted(environment.packages):
        yield PACKAGES / name / "pyproject.toml"
        if not environment.is_editable:
            files = (PACKAGES / name / "src").rglob("*")
            yield from sorted(
                path for path in files if path.is_file() and "__pycache__" not in path.parts
            )


@contextmanager
def _one_at_a_time() -> Generator[None]:
    folder = ROOT / ".cache"
    folder.mkdir(exist_ok=True)
    with (folder / "environments.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("  waiting for another run that is making a virtualenv …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
