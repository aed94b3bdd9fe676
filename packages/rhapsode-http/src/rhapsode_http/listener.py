"""The one who waits for an answer: work for them ends when they leave.

(A listener here is a person or program that listens, not a socket.)
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import anyio
from starlette.types import Scope

_EXTENSION: Final = "rhapsode.listener"


class ListenerLeft(Exception):
    """The client closed its connection before its answer was whole. Nobody is left to tell."""


class Listener:
    """The client of one request, as `Server` knows it.

    ASGI reports a departure only to who keeps receiving, and reports it after a whole answer
    too. A task for that would be the dearest part of a small request, so the connection tells.
    """

    def __init__(self) -> None:
        self._has_left = False
        self._notice: Callable[[], None] | None = None

    def leave(self) -> None:
        """Called by the connection when it is gone and the answer is not whole."""
        self._has_left = True
        if self._notice is not None:
            self._notice()

    def add_to(self, scope: Scope) -> None:
        """Makes the listener known to the app, as an ASGI extension."""
        scope.setdefault("extensions", {})[_EXTENSION] = self

    @contextmanager
    def noticed_by(self, notice: Callable[[], None]) -> Generator[None]:
        """Calls `notice` if the client leaves during the block, or has left before."""
        self._notice = notice
        if self._has_left:
            notice()
        try:
            yield
        finally:
            self._notice = None


@contextmanager
def while_connected(scope: Scope) -> Generator[None]:
    """Runs a block for as long as the client is there; its leaving cancels the block.

    The request's body must have been read before: a connection that is not read from does not
    show that it is closed.

    Args:
        scope: Of a request that a `Server` serves.

    Raises:
        ListenerLeft: The client left first.
    """
    listener: Listener = scope["extensions"][_EXTENSION]
    with anyio.CancelScope() as block, listener.noticed_by(block.cancel):
        yield
    if block.cancelled_caught:
        raise ListenerLeft("the client closed its connection")
