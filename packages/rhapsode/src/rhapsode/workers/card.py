"""The memory of this machine's cards, and the wait until a model's is free again."""

import logging
import re
from collections.abc import Mapping
from typing import Final

import anyio

from rhapsode.workers.nvidia import CardUnreadable, Driver, NvidiaDriver
from rhapsode.workers.visible import uuid_of

logger = logging.getLogger(__name__)

_CUDA: Final = re.compile(r"cuda:([0-9]{1,4})")
_POLL_SECONDS: Final = 0.05
_LONGEST_WAIT_SECONDS: Final = 5.0
_MOST_OF_IT: Final = 0.9
"""Of what a model took: it is measured from outside, so never to the byte."""
_BY_ADDRESS: Final = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


class Card:
    """Waits until what a process held of a card is back."""

    def __init__(
        self,
        driver: Driver | None = None,
        longest_wait_seconds: float = _LONGEST_WAIT_SECONDS,
        environment: Mapping[str, str] = _BY_ADDRESS,
    ) -> None:
        """Args:
        driver: Who is asked; NVIDIA's where None.
        longest_wait_seconds: What a card may take to free what a process held.
        environment: What the process was started with; its `CUDA_*` say how it counts its cards.
        """
        self._driver = driver or NvidiaDriver()
        self._longest_wait_seconds = longest_wait_seconds
        self._environment = environment
        self._complaint = ""

    def seen_with(self, environment: Mapping[str, str]) -> "Card":
        """Returns the same, for processes that are started with another environment."""
        return Card(self._driver, self._longest_wait_seconds, environment)

    def used_bytes(self, device: str | None) -> int | None:
        """Returns what a device such as `cuda:0` holds in use; None where nobody can tell.

        Logs why, once, where it is a card of the kind that can be read.
        """
        uuid = self._uuid_of(device)
        return None if uuid is None else self._read(uuid)

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
        if before is None or size_bytes is None or (uuid := self._uuid_of(device)) is None:
            return
        with anyio.move_on_after(self._longest_wait_seconds) as waiting:
            while (now := self._read(uuid)) is not None:
                if before - now >= size_bytes * _MOST_OF_IT:
                    return
                await anyio.sleep(_POLL_SECONDS)
        if waiting.cancelled_caught:
            logger.warning("the memory of a model on %s is not back", device)

    def _uuid_of(self, device: str | None) -> str | None:
        found = _CUDA.fullmatch(device or "")
        if found is None:
            return None
        try:
            return uuid_of(int(found[1]), self._driver.cards(), self._environment)
        except CardUnreadable as error:
            self._complain(error)
            return None

    def _read(self, uuid: str) -> int | None:
        try:
            return self._driver.used_bytes(uuid)
        except CardUnreadable as error:
            self._complain(error)
            return None

    def _complain(self, error: CardUnreadable) -> None:
        complaint, self._complaint = self._complaint, str(error)
        if complaint != self._complaint:
            logger.warning("no load waits for memory of a card that cannot be read: %s", error)
