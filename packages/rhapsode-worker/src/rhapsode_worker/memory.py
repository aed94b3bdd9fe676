"""What a load takes of a device, measured across it (contract § 3)."""

import importlib
import logging
import operator
import sys
from collections.abc import Callable
from typing import Any, SupportsIndex, cast

from rhapsode_worker.devices import Device

logger = logging.getLogger(__name__)

UsedBytes = Callable[[], int | None]
"""Returns what the device holds in use, whoever uses it; None where nobody can tell."""


def used_bytes_of(device: Device) -> UsedBytes:
    """Returns how the memory of `device` is measured.

    Only NVIDIA's driver can be asked without the engine's framework; elsewhere nothing is said,
    which is never the same as nothing used.
    """
    if device.type != "cuda":
        return lambda: None
    try:
        nvml: Any = importlib.import_module("pynvml")
        nvml.nvmlInit()
        card = nvml.nvmlDeviceGetHandleByIndex(device.index)
    except Exception:  # its errors are its own; a worker without a measure is a worker still
        logger.warning("the card's memory cannot be read", exc_info=True)
        return lambda: None
    return lambda: _read(nvml, card)


def believable(measured: int | None) -> int | None:
    """Returns a size only if it is one: a model that takes nothing was not measured."""
    return measured if measured is not None and measured > 0 else None


def whole_bytes(told: object) -> int | None:
    """Returns a size as an adapter tells it; numpy's integers and a float without a fraction do.

    Raises:
        TypeError: It is no number of bytes.
    """
    if told is None:
        return None
    if isinstance(told, float) and told.is_integer():
        return int(told)
    if isinstance(told, bool) or not hasattr(told, "__index__"):
        raise TypeError(f"memory_bytes() gave {told!r}, not whole bytes")
    return operator.index(cast(SupportsIndex, told))


def empty_caches() -> None:
    """Gives back what a framework keeps of freed memory, if one was imported at all."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    for backend in ("cuda", "mps", "xpu"):
        cache: Any = getattr(torch, backend, None)
        try:
            if cache is not None and cache.is_available():
                cache.empty_cache()
        except Exception:  # a backend that is half there must not fail an unload
            logger.debug("the cache of %s cannot be emptied", backend, exc_info=True)


def _read(nvml: Any, card: Any) -> int | None:
    try:
        return int(nvml.nvmlDeviceGetMemoryInfo(card).used)
    except Exception:
        logger.debug("the card's memory cannot be read now", exc_info=True)
        return None
