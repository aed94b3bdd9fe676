"""A server: an app behind bound sockets, from its start through its drain to its end."""

import asyncio
import socket
from collections.abc import Iterable
from typing import Any

import anyio
from anyio.abc import TaskStatus
from rhapsode_contract.errors import Overloaded
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from rhapsode_http.address import Address
from rhapsode_http.ahead import Backlog
from rhapsode_http.beside import first_of
from rhapsode_http.drain import Drain
from rhapsode_http.exchanges import Exchanges
from rhapsode_http.lifespan import lifespan
from rhapsode_http.limits import Limits
from rhapsode_http.protocol import ServerConnection
from rhapsode_http.request_id import RequestIds
from rhapsode_http.sockets import BoundSockets

_BACKLOG = 512


class Server:
    """Serves one ASGI app until it is drained, closed or cancelled.

    It installs no signal handlers: whoever runs it decides what a signal means, and calls
    `drain()`. Must run on asyncio. Serves once.
    """

    def __init__(self, app: ASGIApp, *bound: BoundSockets, limits: Limits | None = None) -> None:
        """Prepares to serve.

        Args:
            app: Its lifespan is run around everything it serves.
            bound: Where to listen; closed, and their files removed, when the serving ends.
            limits: What a connection may cost; the defaults where None.
        """
        self._app = app
        self._bound = bound
        self._limits = limits or Limits()
        self._drain = Drain(app)
        self._state = ServerState()
        self._close_requested = asyncio.Event()

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Where it listens, with real ports."""
        return tuple(one.address for one in self._bound)

    @property
    def in_flight(self) -> int:
        """Requests whose app has not returned."""
        return self._drain.in_flight

    @property
    def is_draining(self) -> bool:
        """Whether new work is refused."""
        return self._drain.begun.is_set()

    def drain(self) -> None:
        """Refuses new work from now on, and ends the serving when the work in flight is done.

        The sockets stay open meanwhile: GET, HEAD and OPTIONS are answered, everything else gets
        429 `overloaded`. May be called again.
        """
        self._drain.begin()

    async def drain_begun(self) -> None:
        """Waits for `drain()`. Endless answers, such as event streams, should end then."""
        await self._drain.begun.wait()

    def close(self) -> None:
        """Ends the serving now: answers in flight are cut, and whoever has none yet gets 429
        `overloaded`. May be called again.
        """
        self._close_requested.set()

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serves; returns when drained or closed. `task_group.start(server.serve)` waits until
        requests are answered. Cancelling it is `close()`.

        Raises:
            StartupFailed: The app cannot start. The sockets are closed then too.
        """
        try:
            async with lifespan(self._app) as app_state, Exchanges() as exchanges:
                config = _uvicorn_config(RequestIds(self._drain))
                listeners = await self._listen(config, app_state, exchanges)
                try:
                    task_status.started()
                    await first_of(self._close_requested.wait, lambda: self._drained(listeners))
                    await self._refuse_the_waiting()
                finally:
                    self._stop_listening(listeners)
                    for connection in self._connections():
                        connection.abort()
                    exchanges.cancel()
        finally:
            self._release_sockets()

    async def _listen(
        self, config: Config, app_state: dict[str, Any], exchanges: Exchanges
    ) -> list[asyncio.Server]:
        loop = asyncio.get_running_loop()

        backlog = Backlog(self._limits.ahead_bytes)

        def connect() -> ServerConnection:
            return ServerConnection(
                config,
                self._state,
                app_state,
                limits=self._limits,
                spawn=exchanges.start,
                backlog=backlog,
            )

        listeners: list[asyncio.Server] = []
        for listener in _each_socket(self._bound):
            is_unix = listener.family == socket.AF_UNIX
            create = loop.create_unix_server if is_unix else loop.create_server
            listeners.append(await create(connect, sock=listener, backlog=_BACKLOG))
        return listeners

    async def _drained(self, listeners: Iterable[asyncio.Server]) -> None:
        """Waits until a drain has begun, and all that it waits for is over and written."""
        await self._drain.begun.wait()
        await self._drain.work_done()
        with anyio.move_on_after(self._limits.drain_grace_seconds):
            await self._drain.all_done()
        self._stop_listening(listeners)
        for connection in self._connections():
            connection.shutdown()
        # What is still being written is bounded by the connections' own limits.
        while connections := self._connections():
            await connections[0].closed.wait()

    async def _refuse_the_waiting(self) -> None:
        """Tells those whose answers have not begun that they never will."""
        error = Overloaded("this server is going down")
        with anyio.move_on_after(self._limits.refusal_seconds):
            for connection in [each for each in self._connections() if each.refuse(error)]:
                await connection.closed.wait()

    def _stop_listening(self, listeners: Iterable[asyncio.Server]) -> None:
        for listener in listeners:
            listener.close()
        self._release_sockets()

    def _connections(self) -> list[ServerConnection]:
        return [each for each in self._state.connections if isinstance(each, ServerConnection)]

    def _release_sockets(self) -> None:
        for one in self._bound:
            one.close()


def _each_socket(bound: Iterable[BoundSockets]) -> Iterable[socket.socket]:
    return (listener for one in bound for listener in one.sockets)


def _uvicorn_config(app: ASGIApp) -> Config:
    return Config(
        app,  # type: ignore[arg-type]  # uvicorn's own names for the same shapes
        interface="asgi3",
        loop="none",
        http=ServerConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        # Whatever FORWARDED_ALLOW_IPS says: only a guard may believe that header.
        proxy_headers=False,
        server_header=False,
        workers=1,
    )
