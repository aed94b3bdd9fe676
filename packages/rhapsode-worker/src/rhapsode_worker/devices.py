"""What an engine computes on, found without importing an engine's framework."""

import importlib
import logging
import platform
import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

logger = logging.getLogger(__name__)

DeviceType = Literal["cuda", "rocm", "mps", "cpu"]


@dataclass(frozen=True)
class Device:
    """A processor or card."""

    type: DeviceType

    name: str
    """As its maker calls it."""

    index: int = 0
    """Which of several cards of the type."""

    vram_bytes: int | None = None
    """The card's total memory; None where it has none of its own or nobody can tell."""

    def torch(self) -> str:
        """Returns the name that torch gives the device; it calls ROCm's cards `cuda` too."""
        return "cuda" if self.type == "rocm" else self.type

    def __str__(self) -> str:
        return f"{self.type}:{self.index}" if self.type in {"cuda", "rocm"} else self.type


def detect(usable: Collection[DeviceType]) -> Device:
    """Returns the best device of this machine among the types an engine can use.

    CPU is always there and is never a failure.
    """
    if "cuda" in usable and (card := _nvidia_card()) is not None:
        return card
    if "mps" in usable and sys.platform == "darwin" and platform.machine() == "arm64":
        return Device("mps", _processor_name())
    return Device("cpu", _processor_name())


def _nvidia_card() -> Device | None:
    """Returns the first NVIDIA card, as the driver's own library tells where it can be asked."""
    try:
        nvml: Any = importlib.import_module("pynvml")  # nvidia-ml-py, where an engine brings it
        nvml.nvmlInit()
        card = nvml.nvmlDeviceGetHandleByIndex(0)
        name, memory = nvml.nvmlDeviceGetName(card), nvml.nvmlDeviceGetMemoryInfo(card)
    except Exception:  # its errors are its own; whatever it says, there is no card to use
        logger.debug("no NVIDIA card can be asked", exc_info=True)
        return None
    return Device("cuda", str(name), vram_bytes=int(memory.total))


def _processor_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        logger.debug("no /proc/cpuinfo here", exc_info=True)
    return platform.processor() or platform.machine()
