"""The memory of this machine's cards, as their driver tells it."""

import importlib
import logging
import re
from collections.abc import Callable
from typing import Any, Final

import anyio

logger = logging.getLogger(__name__)

_CUDA: Final = re.compile(r"cuda:(\d+)")
_POLL_SECONDS: Final = 0.05
_LONGEST_WAIT_SECONDS: Final = 5.0
_MOST_OF_IT: Final = 0.9
"""Of what a model took: it is measured from outside, so never to the byte."""

UsedBytes = Callable[[int], int | None]
"""Returns what a card holds in use, whoever uses it; None where nobody can tell."""


def nvidia_used_bytes(index: int) -> int | None:
    """Asks NVIDIA's driver, where `nvidia-ml-py` is installed."""
    try:
        nvml: Any = importlib.import_module("pynvml")
        nvml.nvmlInit()
        return int(nvml.nvmlDeviceGetMemoryInfo(nvml.nvmlDeviceGetHandleByIndex(index)).used)
    except Exception:  # its errors are its own; a core without a measure is a core still
        return None


class Card:
    """Waits until what a process held of a card is back."""

    def __init__(
        self,
        used_bytes: UsedBytes = nvidia_used_bytes,
        longest_wait_seconds: float = _LONGEST_WAIT_SECONDS,
    ) -> None:
        self._used_bytes = used_bytes
        self._longest_wait_seconds = longest_wait_seconds

    def used_bytes(self, device: str | None) -> int | None:
        """Returns what a device such as `cuda:0` holds in use; None where nobody can tell."""
        found = _CUDA.fullmatch(device or "")
        return self._used_bytes(int(found[1])) if found is not None else None

    async def memory_is_back(
        self, device: str | None, before: int | None, size_bytes: int | None
    ) -> None:
        """Waits, a few seconds at most, until a model's memory is free again.

        A driver frees what a process held shortly after the process is gone; a load that comes
        sooner finds the card full.

        Args:
            device: Where it was.
            before: What the device held in use while it was there.
            size_bytes: What it took, where that was measured.
        """
        if before is None or size_bytes is None:
            return
        with anyio.move_on_after(self._longest_wait_seconds) as waiting:
            while (now := self.used_bytes(device)) is not None:
                if before - now >= size_bytes * _MOST_OF_IT:
                    return
                await anyio.sleep(_POLL_SECONDS)
        if waiting.cancelled_caught:
            logger.warning("the memory of a model on %s is not back", device)
