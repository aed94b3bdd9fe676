"""Which card a worker means by `cuda:1`, which depends on its environment.

`CUDA_VISIBLE_DEVICES` leaves cards out and numbers the rest anew; `CUDA_DEVICE_ORDER` says what a
number in it, or a number without it, is counted by.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rhapsode.workers.nvidia import CardUnreadable, NvidiaCard

_INDEX: Final = re.compile(r"[0-9]{1,4}")
_INSTANCE: Final = "MIG-"
_CARD: Final = "GPU-"


def uuid_of(ordinal: int, cards: Sequence[NvidiaCard], environment: Mapping[str, str]) -> str:
    """Returns the driver's name for the card that a process calls `cuda:<ordinal>`.

    Args:
        ordinal: As the process counts.
        cards: Every card, by its PCI address.
        environment: The process's; its `CUDA_*` are enough.

    Raises:
        CardUnreadable: Nobody can tell for certain; the message says why.
    """
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return _by_index(ordinal, cards, environment)
    # One that means nothing hides all that follow: then no process has such a card.
    names = [_meant(name.strip(), cards, environment) for name in visible.split(",")[: ordinal + 1]]
    if ordinal >= len(names):
        raise CardUnreadable(f"CUDA_VISIBLE_DEVICES={visible} shows the worker no cuda:{ordinal}")
    return names[ordinal]


def _meant(name: str, cards: Sequence[NvidiaCard], environment: Mapping[str, str]) -> str:
    if name.startswith(_INSTANCE):
        return name
    if _INDEX.fullmatch(name):
        return _by_index(int(name), cards, environment)
    # The beginning of a UUID is enough where no other card has it.
    found = [card.uuid for card in cards if name.startswith(_CARD) and card.uuid.startswith(name)]
    if len(found) != 1:
        raise CardUnreadable(f"{name!r} in CUDA_VISIBLE_DEVICES means no card, or several")
    return found[0]


def _by_index(index: int, cards: Sequence[NvidiaCard], environment: Mapping[str, str]) -> str:
    if index >= len(cards):
        raise CardUnreadable(f"there is no card {index}; there are {len(cards)}")
    if any(card.is_split for card in cards):
        raise CardUnreadable(
            "a card is divided into instances (MIG), which a number does not tell apart; name one"
            " in CUDA_VISIBLE_DEVICES"
        )
    # By itself CUDA puts first the one that it takes for the fastest.
    if len(cards) > 1 and environment.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        raise CardUnreadable(
            "cards are counted by the driver only with CUDA_DEVICE_ORDER=PCI_BUS_ID"
        )
    return cards[index].uuid
