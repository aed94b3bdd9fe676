"""The numbers that the files in `data` hold."""

from array import array
from pathlib import Path

from rhapsode_worker.voicing.tensor import Tensor

DATA = Path(__file__).parent / "data"

SHAPE = (4, 1, 6)
NUMBERS = [index / 8 for index in range(24)]


def numbers_of(tensor: Tensor) -> list[float]:
    return array("f", tensor.data).tolist()
