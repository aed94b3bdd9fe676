"""A file of numbers that somebody sent, read by its type."""

from pathlib import Path
from typing import Final

from rhapsode_contract import Unsupported
from rhapsode_http import UPLOAD_LIMIT_BYTES

from rhapsode_worker.voicing.npy import read_npy
from rhapsode_worker.voicing.tensor import FIELD, Tensor, refuse
from rhapsode_worker.voicing.voicepack import read_voicepack

_READERS: Final = {"npy": read_npy, "pt": read_voicepack}

TENSOR_TYPES: Final = tuple(_READERS)
"""File types that `read_tensor_file` reads, as an engine lists them in its cloning formats."""


def read_tensor_file(path: Path) -> Tensor:
    """Reads a `.npy` or `.pt` file as data, of at most 25 MB; blocks while it does.

    Raises:
        BadRequest: The file holds something else than one array of finite floating-point numbers.
        Unsupported: Its name has another ending.
        OSError: It cannot be read.
    """
    file_type = path.suffix[1:].lower()
    reader = _READERS.get(file_type)
    if reader is None:
        raise Unsupported(
            f"{FIELD}: numbers come as {' or '.join(TENSOR_TYPES)}, not {file_type}", field=FIELD
        )
    with path.open("rb") as file:
        data = file.read(UPLOAD_LIMIT_BYTES + 1)
    if len(data) > UPLOAD_LIMIT_BYTES:
        refuse(f"is longer than {UPLOAD_LIMIT_BYTES:,} bytes")
    return reader(data)
