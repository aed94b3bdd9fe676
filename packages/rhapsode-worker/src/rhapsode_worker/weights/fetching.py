"""One fetch under way: files are asked of their sources until each is right."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from rhapsode_worker.weights.meter import Meter
from rhapsode_worker.weights.part import Part
from rhapsode_worker.weights.patience import Patience
from rhapsode_worker.weights.source import Errand, Source, SourceFailed
from rhapsode_worker.weights.staging import Staging
from rhapsode_worker.weights.stop import Stop
from rhapsode_worker.weights.weight_file import WeightFile

logger = logging.getLogger(__name__)


class Fetching:
    """Brings files to their places. Used by one thread, which holds the folder's lock."""

    def __init__(
        self,
        staging: Staging,
        environ: Mapping[str, str],
        patience: Patience,
        meter: Meter,
        stop: Stop,
    ) -> None:
        self._staging = staging
        self._environ = environ
        self._patience = patience
        self._meter = meter
        self._stop = stop

    def is_right(self, file: WeightFile, path: Path) -> bool:
        """Reads a file that may be in place and says whether it is the one declared."""
        return file.is_at(path, self._after_piece)

    def obtain(self, file: WeightFile, target: Path) -> None:
        """Brings a file, unless it is there: every source in order, then once more those that
        failed for a passing reason.

        Raises:
            SourceFailed: None has it; every source's last reason is in the reason.
            OSError: Nothing can be written here.
            ModelUnavailable: The fetch was stopped.
        """
        part = Part(target, file.sha256, file.size_bytes)
        if self.is_right(file, target):
            part.discard()
            return
        # By its place in the list: two sources may be equal.
        failures: dict[int, SourceFailed] = {}
        for pause in (0.0, *self._patience.pauses_seconds):
            self._stop.rest(pause)
            for index, source in enumerate(file.sources):
                if index in failures and not failures[index].is_transient:
                    continue
                logger.info("weights: %s from %s", file.name, source)
                try:
                    self._bring(part, source)
                except SourceFailed as failure:
                    failures[index] = failure
                    logger.warning("weights: %s from %s: %s", file.name, source, failure.reason)
                else:
                    part.place()
                    return
            if not any(failure.is_transient for failure in failures.values()):
                break
        raise _nowhere(file.sources, list(failures.values()))

    def _bring(self, part: Part, source: Source) -> None:
        """Fills the part with the right bytes. What was put together from older bytes and is
        wrong is asked for once more, whole.

        Raises:
            SourceFailed: The source does not give them.
        """
        for is_fresh in (False, True):
            was_kept = source.bring(self._errand(part, is_fresh))
            digest = part.digest(self._after_piece)
            if digest == part.sha256:
                return
            part.discard()
            if not was_kept:
                break
        raise SourceFailed(f"sha256 is {digest}, not {part.sha256}", is_wrong=True)

    def _errand(self, part: Part, is_fresh: bool) -> Errand:
        return Errand(
            part=part,
            is_fresh=is_fresh,
            staging=self._staging,
            environ=self._environ,
            patience=self._patience,
            meter=self._meter,
            stop=self._stop,
            obtain=self.obtain,
        )

    def _after_piece(self, read: int) -> None:
        self._stop.check()
        self._meter.show(read)


def _nowhere(sources: Sequence[Source], failures: Sequence[SourceFailed]) -> SourceFailed:
    said = "; ".join(
        f"{source}: {failure.reason}" for source, failure in zip(sources, failures, strict=True)
    )
    return SourceFailed(said, is_wrong=all(failure.is_wrong for failure in failures))
