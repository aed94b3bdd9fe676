"""The models of every engine, as whoever owns the card sees them."""

from typing import Literal, Protocol

Mode = Literal["terminate", "unload"]
"""How memory is given back: all of it with the process, or most of it and the process stays."""


class Models(Protocol):
    """The models of every engine, which are loaded and go as the owner of the card decides."""

    def is_loaded(self, engine: str) -> bool:
        """Whether a model is there, or is being loaded."""
        ...

    def size_bytes(self, engine: str) -> int | None:
        """Returns what the model takes, as its worker measured it."""
        ...

    def is_stranded(self, engine: str) -> bool:
        """Whether its process is up without a model, and has failed to load one: what that took
        of the card may come back with the process only.
        """
        ...

    def is_unheard(self, engine: str) -> bool:
        """Whether its process was to end, could not be told, and was not met again since: its model
        may be there still.
        """
        ...

    async def end(self, engine: str) -> None:
        """Ends an engine's process; returns once it is reaped and its memory is back.

        Raises:
            RhapsodeError: It could not be told.
        """
        ...

    async def unload(self, engine: str) -> None:
        """Takes an engine's model off the card, in the process or with it.

        Raises:
            RhapsodeError: It could not be told.
        """
        ...
