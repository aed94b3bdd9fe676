"""A file that is made here from others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rhapsode_worker.weights.part import Origin
from rhapsode_worker.weights.source import Errand
from rhapsode_worker.weights.weight_file import WeightFile


@dataclass(frozen=True)
class BuiltFile:
    """A file that a function of the adapter's makes: voices gathered into one file, say.

    What it makes is checked like any other file, so it has to be the same bytes each time.
    """

    ingredients: Sequence[WeightFile]
    """What it is made of. They are checked too, and gone once the fetch is done."""

    build: Callable[[Sequence[Path], Path], None]
    """Takes the ingredients, in order, and the path to write."""

    def bring(self, errand: Errand) -> bool:
        """See `Source.bring`. Ingredients are checked, so nothing unchecked is built upon."""
        # By hash: an ingredient of one name and another content is another file.
        paths = [errand.staging.path_of(file.sha256) for file in self.ingredients]
        for file, path in zip(self.ingredients, paths, strict=True):
            errand.obtain(file, path)
        errand.part.begin(Origin(str(self)))
        self.build(paths, errand.part.path)
        return False

    def __str__(self) -> str:
        return f"built from {len(self.ingredients)} files"
