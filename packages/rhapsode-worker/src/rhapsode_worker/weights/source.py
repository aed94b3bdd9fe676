"""What can be asked for a file's bytes, and what it is given for that."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rhapsode_worker.weights.meter import Meter
from rhapsode_worker.weights.part import Part
from rhapsode_worker.weights.patience import Patience
from rhapsode_worker.weights.staging import Staging
from rhapsode_worker.weights.stop import Stop

if TYPE_CHECKING:
    from rhapsode_worker.weights.weight_file import WeightFile


class SourceFailed(Exception):
    """This source does not give the file; the next one may."""

    def __init__(self, reason: str, *, is_transient: bool = False, is_wrong: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        """For a person, without the source's name."""
        self.is_transient = is_transient
        """Whether the same source may give it in a moment."""
        self.is_wrong = is_wrong
        """Whether the source has a file, and it is another one."""


@dataclass(frozen=True)
class Errand:
    """One file to bring, and what a source may use for it."""

    part: Part
    """Where the bytes go, and how many there should be."""

    is_fresh: bool
    """Whether nothing kept from before may be used, since it has turned out wrong."""

    staging: Staging

    environ: Mapping[str, str]
    """The worker's variables. Child processes get all of them."""

    patience: Patience

    meter: Meter

    stop: Stop

    obtain: "Callable[[WeightFile, Path], None]"
    """Brings another file to a path, checked: for a source that makes its file from others.
    Raises `SourceFailed`."""


class Source(Protocol):
    """A place that has a file. Its `str()` is its name in logs and errors."""

    def bring(self, errand: Errand) -> bool:
        """Fills the part, blocking. Need not check the hash: whoever asked does.

        Returns:
            Whether bytes kept from before went into it. If the hash then turns out wrong, it is
            asked once more, for a fresh copy.

        Raises:
            SourceFailed: It cannot.
            OSError: Nothing can be written here, whichever source it comes from.
            ModelUnavailable: The fetch was stopped.
        """
        ...
