"""The weights of an engine: files in a folder, fetched and known to be right."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rhapsode_contract import Internal, ModelUnavailable, RhapsodeError

from rhapsode_worker.weights.fetching import Fetching
from rhapsode_worker.weights.lock import folder_lock
from rhapsode_worker.weights.meter import Meter, Progress, log_progress
from rhapsode_worker.weights.part import Part
from rhapsode_worker.weights.patience import Patience
from rhapsode_worker.weights.source import SourceFailed
from rhapsode_worker.weights.space import check_space, is_full, no_room
from rhapsode_worker.weights.staging import Staging
from rhapsode_worker.weights.stamp import Mark, Stamp
from rhapsode_worker.weights.stop import Stop
from rhapsode_worker.weights.weight_file import WeightFile

logger = logging.getLogger(__name__)

_LOCK_POLL_SECONDS = 0.2


class Weights:
    """Files that belong together, a variant's say, in an engine's folder.

    Several may share a folder and files in it: one fetch runs at a time, over all processes.
    """

    def __init__(
        self,
        folder: Path,
        files: Sequence[WeightFile],
        *,
        environ: Mapping[str, str],
        patience: Patience | None = None,
    ) -> None:
        """Does not touch the disk.

        Args:
            folder: Made by the first fetch.
            files: Their names differ.
            environ: The worker's variables: the hub's, and what `pip` and `npm` are given.
            patience: How long sources are waited for.

        Raises:
            ValueError: Two files of one name.
        """
        names = [file.name for file in files]
        if len(set(names)) != len(names):
            raise ValueError(f"two files of one name among {', '.join(sorted(names))}")
        self.folder = folder
        self.files = tuple(files)
        self._environ = environ
        self._patience = patience or Patience()
        self._stamp = Stamp(folder)

    @property
    def total_bytes(self) -> int:
        """What all the files take."""
        return sum(file.size_bytes for file in self.files)

    def path_of(self, name: str) -> Path:
        """Returns where a declared file lies, or will.

        Raises:
            KeyError: None of this name is declared.
        """
        if all(file.name != name for file in self.files):
            raise KeyError(name)
        return self.folder / name

    def is_complete(self) -> bool:
        """Says whether every file is there, was right when last read and was not written since.

        Reads no file but the stamp: quick enough for every load. A bit that flipped on the disk
        by itself is seen by `verify` and `fetch`, which read them all.
        """
        marked = self._stamp.read()
        return all(_is_as_marked(self.folder / file.name, file, marked) for file in self.files)

    def verify(self) -> list[str]:
        """Reads every file and returns the names of those that are missing or wrong.

        Changes nothing; `fetch` mends what is wrong.
        """
        return [
            file.name
            for file in self.files
            if not file.is_at(self.folder / file.name, lambda _: None)
        ]

    def fetch(
        self,
        progress: Progress = log_progress,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Returns once every file is in place and right; fetches those that are not.

        Blocks, for as long as it takes. What is interrupted, by a kill too, is resumed by the
        next call. On a disk that fills up, what had arrived of unfinished files is removed.

        Args:
            progress: Told of the bytes done and in all, at most twice a second and at the end.
            should_stop: Asked between pieces; while a source is silent, not before it speaks
                or its time is up.

        Raises:
            ModelUnavailable: Some file cannot be had now, there is no room or no right to write,
                or it was stopped. Names the file and every source's reason, or the path.
            Internal: Every source has another file than the one declared; names both hashes.
        """
        meter = Meter(self.total_bytes, progress)
        stop = Stop(should_stop)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with folder_lock(self.folder, lambda: self._wait_for_other(meter, stop)):
                self._fetch_all(meter, stop)
        except OSError as error:
            self._tell_apart(error)
        meter.finish()

    def _fetch_all(self, meter: Meter, stop: Stop) -> None:
        staging = Staging(self.folder)
        staging.sweep()
        fetching = Fetching(staging, self._environ, self._patience, meter, stop)
        missing: list[WeightFile] = []
        for file in self.files:
            if fetching.is_right(file, self.folder / file.name):
                self._finish(file, meter)
            else:
                self._stamp.unmark(file.name)
                missing.append(file)
        # What is wrong stays in place until it is replaced, so it frees nothing.
        check_space(self.folder, sum(self._part(file).missing() for file in missing))
        try:
            while missing:
                self._fetch_one(fetching, missing[0])
                self._finish(missing.pop(0), meter)
        except OSError as error:
            if not is_full(error):
                raise
            staging.clear()
            for file in missing:
                self._part(file).discard()
            raise no_room(self.folder, sum(file.size_bytes for file in missing), error) from None
        staging.clear()

    def _fetch_one(self, fetching: Fetching, file: WeightFile) -> None:
        target = self.folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            fetching.obtain(file, target)
        except SourceFailed as failure:
            raise _as_error(file, failure) from None

    def _finish(self, file: WeightFile, meter: Meter) -> None:
        self._part(file).discard()
        self._stamp.mark(file.name, file.sha256)
        meter.finish_file(file.size_bytes)

    def _part(self, file: WeightFile) -> Part:
        return Part(self.folder / file.name, file.sha256, file.size_bytes)

    def _wait_for_other(self, meter: Meter, stop: Stop) -> None:
        """Waits a moment for the fetch that holds the folder, and shows what it has brought."""
        before = self._arrived()
        stop.rest(_LOCK_POLL_SECONDS)
        if (arrived := self._arrived()) != before:
            meter.show(arrived)

    def _arrived(self) -> int:
        return sum(
            max(_size_of(self.folder / file.name), _size_of(self._part(file).path))
            for file in self.files
        )

    def _tell_apart(self, error: OSError) -> None:
        """Accepts a folder that cannot be written where all is right in it: one in an image.

        Raises:
            ModelUnavailable: It is not.
        """
        wrong = self.verify()
        if wrong:
            path = error.filename2 or error.filename or self.folder
            reason = error.strerror or str(error)
            raise ModelUnavailable(
                f"weights: {os.fsdecode(path)} cannot be written ({reason}), and "
                f"{', '.join(wrong)} would have to be fetched"
            ) from None
        logger.warning("weights: all is right in %s, which cannot be written", self.folder)


def _is_as_marked(path: Path, file: WeightFile, marked: Mapping[str, Mark]) -> bool:
    mark = marked.get(file.name)
    if mark is None or mark.sha256 != file.sha256:
        return False
    try:
        there = path.stat()
    except OSError:
        return False
    return there.st_size == file.size_bytes and mark.fits(there.st_mtime_ns)


def _size_of(path: Path) -> int:
    """Returns a file's size in bytes; -1 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _as_error(file: WeightFile, failure: SourceFailed) -> RhapsodeError:
    if failure.is_wrong:
        return Internal(f"weights: no source has the right {file.name}: {failure.reason}")
    return ModelUnavailable(f"weights: {file.name} cannot be fetched: {failure.reason}")
