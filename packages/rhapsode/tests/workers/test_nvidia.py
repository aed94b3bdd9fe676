"""What is asked of NVIDIA's library, with a stand-in for it."""

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from rhapsode.workers.nvidia import CardUnreadable, NvidiaCard, NvidiaDriver


class LibraryError(Exception):
    """As the library raises them."""


@dataclass(frozen=True)
class Installed:
    """A card, its PCI address and its memory, all in one: what the library keeps apart."""

    uuid: str
    bus: int
    used: int
    is_split: bool | None = None
    """None where it can't be."""
    domain: int = 0
    device: int = 0


def library(*cards: Installed) -> ModuleType:
    def of_uuid(uuid: bytes) -> Installed:
        found = [card for card in cards if card.uuid == uuid.decode()]
        if not found:
            raise LibraryError("Not Found")
        return found[0]

    def mode(card: Installed) -> tuple[int, int]:
        if card.is_split is None:
            raise LibraryError("Not Supported")
        return int(card.is_split), 0

    def whole(card: Installed) -> Installed:
        return card

    def name(card: Installed) -> str:
        return card.uuid

    module: Any = ModuleType("pynvml")
    module.NVMLError = LibraryError
    module.nvmlInit = lambda: None
    module.nvmlDeviceGetCount = lambda: len(cards)
    module.nvmlDeviceGetHandleByIndex = cards.__getitem__
    module.nvmlDeviceGetHandleByUUID = of_uuid
    module.nvmlDeviceGetPciInfo = module.nvmlDeviceGetMemoryInfo = whole
    module.nvmlDeviceGetUUID = name
    module.nvmlDeviceGetMigMode = mode
    return module


FAR = Installed("GPU-far", bus=9, used=1)
NEAR = Installed("GPU-near", bus=3, used=2, is_split=False)
SPLIT = Installed("GPU-split", bus=1, used=3, is_split=True, domain=1)


def test_cards_come_by_their_address_whatever_the_librarys_own_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library(SPLIT, FAR, NEAR))
    assert NvidiaDriver().cards() == [
        NvidiaCard("GPU-near"),
        NvidiaCard("GPU-far"),
        NvidiaCard("GPU-split", is_split=True),
    ]


def test_a_card_is_read_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library(FAR, NEAR))
    assert NvidiaDriver().used_bytes("GPU-near") == 2


def test_a_driver_that_refuses_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library(FAR))
    with pytest.raises(CardUnreadable, match="Not Found"):
        NvidiaDriver().used_bytes("GPU-none")


def test_without_the_library_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(CardUnreadable, match="nvidia-ml-py"):
        NvidiaDriver().cards()
