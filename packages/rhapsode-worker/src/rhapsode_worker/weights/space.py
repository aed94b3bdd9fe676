"""Room on the disk: asked for first, and named when it runs out."""

import errno
import shutil
from pathlib import Path
from typing import Final

from rhapsode_contract import ModelUnavailable

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""No room, the user's share used up, and the process's limit on a file's size."""


def check_space(folder: Path, needed: int) -> None:
    """Holds what a fetch will write against what is free.

    Raises:
        ModelUnavailable: It does not fit.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ModelUnavailable(
            f"weights: {folder} has no room: {needed:,} bytes needed, {free:,} free"
        )


def is_full(error: OSError) -> bool:
    """Says whether a write failed for want of room."""
    return error.errno in _FULL


def no_room(folder: Path, needed: int, error: OSError) -> ModelUnavailable:
    """Returns the error for a disk that filled up half-way; what is free is counted now."""
    free = shutil.disk_usage(folder).free
    return ModelUnavailable(
        f"weights: {folder} ran out of room ({error.strerror}): {needed:,} bytes are missing, and"
        " where they come from packed, the package takes room beside them meanwhile;"
        f" {free:,} bytes are free now that what had arrived was removed"
    )
