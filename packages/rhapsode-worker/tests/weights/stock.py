"""Files to fetch, and what fetches them in these tests."""

import hashlib
import os
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path

from rhapsode_worker.weights import (
    Patience,
    ReleaseFile,
    Source,
    WeightFile,
    Weights,
)

from .site import Site

PATIENT = Patience(pauses_seconds=())
"""Each source once."""

QUICK = Patience(silence_seconds=5, pauses_seconds=(0.0, 0.0))
"""Each source thrice, with no pause between."""


def noise(size: int, seed: int = 1) -> bytes:
    """Returns bytes that no compression makes smaller, the same for a seed."""
    return random.Random(seed).randbytes(size)


def declared(name: str, content: bytes, *sources: Source) -> WeightFile:
    """Returns the declaration of a file with this content."""
    return WeightFile(name, hashlib.sha256(content).hexdigest(), len(content), sources)


def weights_of(
    folder: Path,
    *files: WeightFile,
    patience: Patience = PATIENT,
    environ: Mapping[str, str] | None = None,
) -> Weights:
    """Returns weights with this process's variables and those given."""
    return Weights(folder, files, environ={**os.environ, **(environ or {})}, patience=patience)


def served(site: Site, folder: Path, content: bytes, patience: Patience = PATIENT) -> Weights:
    """Returns weights of one file, `model.bin`, that the site serves at `/model`."""
    site.files["/model"] = content
    file = declared("model.bin", content, ReleaseFile(site.url("/model")))
    return weights_of(folder, file, patience=patience)


def left_in(folder: Path) -> set[str]:
    """Returns the names of all files below a folder but the lock and the stamp."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {".lock", ".verified.json"}
    }


def make_wheel(folder: Path, package: str, members: Mapping[str, bytes]) -> Path:
    """Writes a wheel of version 1.0 that pip takes for one, and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    name = package.replace("-", "_")
    info = f"{name}-1.0.dist-info"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for member, content in members.items():
            wheel.writestr(member, content)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


def only_wheels_in(folder: Path) -> dict[str, str]:
    """Returns the variables that make a folder all of pip's index."""
    return {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": str(folder),
    }
