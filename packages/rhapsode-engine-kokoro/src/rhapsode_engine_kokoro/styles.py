"""Style vectors: what a voice of Kokoro is."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rhapsode_worker.voicing.tensor import Tensor, refuse
from rhapsode_worker.voicing.tensor_file import read_tensor_file

from rhapsode_engine_kokoro.alphabet import LONGEST

Styles = NDArray[np.float32]
"""A voice: `ROWS` vectors, one for each number of phonemes; shape (510, 256)."""

ROWS: Final = LONGEST
WIDTH: Final = 256
SHAPE: Final = (ROWS, 1, WIDTH)
"""As it is kept in a file."""

BYTES: Final = ROWS * WIDTH * 4

LARGEST: Final = 8.0
"""In size. No number of the release's voices is above 3.2; of much larger ones the network makes
minutes of noise, or no numbers at all."""


def style_for(styles: Styles, phonemes: int) -> NDArray[np.float32]:
    """Returns the vector for an utterance of so many phonemes."""
    return styles[min(max(phonemes, 1), len(styles)) - 1]


def read_styles(path: Path) -> Styles:
    """Reads a `.npy` or a `.pt` file as data.

    Raises:
        BadRequest: It holds something else than `SHAPE` finite numbers, or one above `LARGEST`.
        Unsupported: Its name has another ending.
        OSError: It cannot be read.
    """
    tensor: Tensor = read_tensor_file(path)
    tensor.check_shape(SHAPE)
    styles = np.frombuffer(tensor.data, dtype="<f4").reshape(ROWS, WIDTH)
    largest = float(np.abs(styles).max())
    if largest > LARGEST:
        refuse(f"holds a number of the size {largest:.4g}; voices have none above {LARGEST:g}")
    return styles


def npy_of(styles: Styles) -> bytes:
    """Returns a voice as the contents of a `.npy` file."""
    file = io.BytesIO()
    np.save(file, styles.reshape(SHAPE).astype("<f4"))
    return file.getvalue()


def mixed(parts: Sequence[tuple[Styles, float]]) -> Styles:
    """Returns the voice that lies between others.

    Args:
        parts: Each with its weight; together 1.
    """
    # In double precision, so that a voice mixed with itself is that voice.
    whole = np.zeros((ROWS, WIDTH))
    for styles, weight in parts:
        whole += styles.astype(np.float64) * weight
    return whole.astype(np.float32)


class VoicesFile:
    """The voices of the release, one after the other in one file, held in memory."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        """Reads it.

        Raises:
            OSError: It cannot be read.
            ValueError: It is not as long as its voices are.
        """
        numbers = np.fromfile(path, dtype="<f4").reshape(len(names), ROWS, WIDTH)
        self._styles = dict(zip(names, numbers, strict=True))

    def __getitem__(self, name: str) -> Styles:
        return self._styles[name]


def gather_voices(archive: Path, target: Path, names: Sequence[str]) -> None:
    """Writes the voices of an `.npz` archive one after the other.

    Raises:
        KeyError, OSError, ValueError: It is not the archive it should be.
    """
    with np.load(archive, allow_pickle=False) as voices, target.open("wb") as out:
        for name in names:
            styles = np.asarray(voices[name])
            if styles.shape != SHAPE:
                raise ValueError(f"{archive.name}: {name} has the shape {styles.shape}")
            out.write(styles.astype("<f4").tobytes())
