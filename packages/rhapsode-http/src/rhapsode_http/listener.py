"""The one who waits for an answer: work for them ends when they leave.

(A listener here is a person or program that listens, not a socket.)
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.types import Message, Receive, Send

from rhapsode_http.beside import beside


class ListenerLeft(Exception):
    """The client closed its connection before its answer was whole. Nobody is left to tell."""


@asynccontextmanager
async def while_connected(receive: Receive, send: Send) -> AsyncGenerator[Send]:
    """Runs a block for as long as the client is there; its leaving cancels the block.

    The request's body must have been read before, since what arrives is read and dropped here.

    Yields:
        What the block must send with: ASGI reports a disconnect after a whole answer too, and
        only who sees what is sent can tell the two apart.

    Raises:
        ListenerLeft: The client left first.
    """
    ending = _Ending()
    has_left = False

    async def watch() -> None:
        nonlocal has_left
        while (await receive())["type"] != "http.disconnect":
            pass
        if not ending.is_sent:
            has_left = True
            scope.cancel()

    async def send_on(message: Message) -> None:
        ending.note(message)
        await send(message)

    async with beside(watch) as scope:
        yield send_on
    if has_left:
        raise ListenerLeft("the client closed its connection")


class _Ending:
    """Whether the last message of an answer has been sent."""

    def __init__(self) -> None:
        self.is_sent = False
        self._last = "http.response.body"

    def note(self, message: Message) -> None:
        if message.get("trailers", False):
            self._last = "http.response.trailers"
        has_more = message.get("more_body", False) or message.get("more_trailers", False)
        if message["type"] == self._last and not has_more:
            self.is_sent = True
