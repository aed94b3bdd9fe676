"""Which contract two sides speak (contract § 9)."""

from collections.abc import Collection
from typing import Final

CONTRACT: Final = 1
"""The highest contract that this package describes."""

SUPPORTED: Final[frozenset[int]] = frozenset({1})
"""Every contract that a worker built on this package can answer at."""


class ContractMismatch(ValueError):
    """The two sides have no contract in common; the message names both numbers."""


def answer_at(offer: int, supported: Collection[int] = SUPPORTED) -> int:
    """Returns the contract a worker answers at: its highest that is not above the offer.

    Raises:
        ContractMismatch: The offer is below everything the worker supports.
    """
    fitting = [contract for contract in supported if contract <= offer]
    if not fitting:
        raise ContractMismatch(
            f"the core speaks contract {offer} at most, this worker {min(supported)} at least"
        )
    return max(fitting)


def check_answer(reported: int, ours: int = CONTRACT) -> None:
    """Holds a worker's reported contract against the core's own.

    Raises:
        ContractMismatch: The worker answers above what the core can speak.
    """
    if reported > ours:
        raise ContractMismatch(f"the worker speaks contract {reported}, this core {ours} at most")
