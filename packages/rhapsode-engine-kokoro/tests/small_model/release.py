"""A release whose files are made on the spot."""

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro.release import Release
from rhapsode_engine_kokoro.roster import NAMES
from rhapsode_engine_kokoro.styles import ROWS, WIDTH
from rhapsode_worker import serve
from rhapsode_worker.weights import BuiltFile, WeightFile

from .graph import small_graph

_PRECISIONS: Final = {"fp16": "float16", "fp32": "float32"}


@cache
def voices() -> bytes:
    """Returns random style vectors for every voice of the release, as its file has them."""
    random = np.random.default_rng(1)
    shape = (len(NAMES), ROWS, WIDTH)
    return random.standard_normal(size=shape, dtype=np.float32).astype("<f4").tobytes()


def small_release() -> Release:
    """Returns a graph in each of two precisions, and voices."""
    return Release(
        graphs={
            variant: _made(f"{variant}.onnx", small_graph(precision))
            for variant, precision in _PRECISIONS.items()
        },
        voices=_made("voices.f32", voices()),
    )


def main() -> None:
    """Serves it as `python -m rhapsode_engine_kokoro` serves the real one."""
    serve(KokoroEngine(os.environ, small_release()))


def _made(name: str, contents: bytes) -> WeightFile:
    def build(_: Sequence[Path], target: Path) -> None:
        target.write_bytes(contents)

    digest = hashlib.sha256(contents).hexdigest()
    return WeightFile(name, digest, len(contents), [BuiltFile([], build)])
