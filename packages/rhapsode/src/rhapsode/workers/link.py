"""What a worker is to the core while it lives, wherever it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import anyio
from rhapsode_contract import RhapsodeError

from rhapsode.workers.session import Session


@dataclass(frozen=True)
class End:
    """How one life of a worker ended."""

    failure: RhapsodeError
    """What it is to whoever was waiting for an answer."""

    is_hopeless: bool = False
    """Whether another try would end in the same way."""

    is_starved: bool = False
    """Whether it did not even begin, since this machine lacks what it takes."""

    is_unheard: bool = False
    """Whether it should have ended and was never told, since it could not be reached."""


class Link(Protocol):
    """The way to a worker: a process of ours, or an address on another machine."""

    async def live(self, ready: Callable[[Session], None], ending: anyio.Event) -> End:
        """Lives one life of the worker, from its start to its end.

        Args:
            ready: Called once, as soon as the worker can be asked.
            ending: Set when it should end.
        """
        ...

    def kill(self) -> None:
        """Ends it at once, for a core that must not wait."""
        ...
