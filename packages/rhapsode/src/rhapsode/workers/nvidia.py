"""NVIDIA's cards, as their driver tells of them."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class CardUnreadable(Exception):
    """What a card holds cannot be told; one line that says why."""


@dataclass(frozen=True)
class NvidiaCard:
    """One card of this machine."""

    uuid: str
    """The driver's own name for it, such as `GPU-8932f937-d72c-4106-c12f-20bd9faed9f6`."""

    is_split: bool = False
    """Whether it is divided into instances (MIG), of which a process sees one and not the card."""


class Driver(Protocol):
    """Who can be asked; every method blocks for about a millisecond."""

    def cards(self) -> Sequence[NvidiaCard]:
        """Returns every card, by its PCI address.

        Raises:
            CardUnreadable: It does not say.
        """
        ...

    def used_bytes(self, uuid: str) -> int:
        """Returns what a card, or an instance of one, holds in use, whoever uses it.

        Raises:
            CardUnreadable: It does not say.
        """
        ...


class NvidiaDriver:
    """The driver's own library, where `nvidia-ml-py` is installed."""

    def cards(self) -> Sequence[NvidiaCard]:
        try:
            nvml = _nvml()
            handles = [
                nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())
            ]
            handles.sort(key=lambda handle: _pci_address(nvml, handle))
            return [
                NvidiaCard(_text(nvml.nvmlDeviceGetUUID(handle)), _is_split(nvml, handle))
                for handle in handles
            ]
        except Exception as error:  # its errors are its own
            raise _unreadable(error) from None

    def used_bytes(self, uuid: str) -> int:
        try:
            nvml = _nvml()
            handle = nvml.nvmlDeviceGetHandleByUUID(uuid.encode())
            return int(nvml.nvmlDeviceGetMemoryInfo(handle).used)
        except Exception as error:
            raise _unreadable(error) from None


def _nvml() -> Any:
    nvml: Any = importlib.import_module("pynvml")
    nvml.nvmlInit()
    return nvml


def _pci_address(nvml: Any, handle: Any) -> tuple[int, int, int]:
    # The library's own order is the same today, and promised by nobody.
    place = nvml.nvmlDeviceGetPciInfo(handle)
    return place.domain, place.bus, place.device


def _is_split(nvml: Any, handle: Any) -> bool:
    try:
        current, _ = nvml.nvmlDeviceGetMigMode(handle)
    except nvml.NVMLError:  # a card that cannot be
        return False
    return bool(current)


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _unreadable(error: Exception) -> CardUnreadable:
    if isinstance(error, ModuleNotFoundError):
        return CardUnreadable("nvidia-ml-py is not installed beside the server")
    return CardUnreadable(f"the driver says: {error}")
