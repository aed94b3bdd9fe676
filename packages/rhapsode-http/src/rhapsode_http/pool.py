"""The connections of one client: which are open, and which may be used again."""

import asyncio

from rhapsode_http.connection import ClientConnection, UpstreamTruncated


class Pool:
    """Keeps the connections to one peer. Nothing here waits, but for `aclose()`."""

    def __init__(self, *, idle_seconds: float, max_idle: int) -> None:
        self._idle_seconds = idle_seconds
        self._max_idle = max_idle
        self._idle: list[ClientConnection] = []
        self._open: set[ClientConnection] = set()
        self.is_closed = False

    def take(self) -> ClientConnection | None:
        """Returns the idle connection used last, or None; closes those kept for too long."""
        oldest = asyncio.get_running_loop().time() - self._idle_seconds
        kept: list[ClientConnection] = []
        for each in self._idle:
            if each.is_usable and each.idle_since >= oldest:
                kept.append(each)
            else:
                each.abort(UpstreamTruncated("idle for too long"))
        self._idle = kept
        return kept.pop() if kept else None

    def opened(self, connection: ClientConnection) -> None:
        """Takes charge of a new connection."""
        self._open.add(connection)
        if self.is_closed:
            connection.abort(UpstreamTruncated("the client was closed"))

    def lost(self, connection: ClientConnection) -> None:
        """Forgets a connection that is gone."""
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def released(self, connection: ClientConnection) -> None:
        """Keeps a connection for another request, if there is room."""
        if self.is_closed or len(self._idle) >= self._max_idle:
            connection.abort(UpstreamTruncated("enough connections are kept"))
        else:
            self._idle.append(connection)

    async def aclose(self) -> None:
        """Closes every connection, and waits until they are gone."""
        self.is_closed = True
        for connection in list(self._open):
            connection.abort(UpstreamTruncated("the client was closed"))
        while self._open:
            await next(iter(self._open)).closed.wait()
