"""For tests: an app on a real socket, and a client that sends exactly the bytes it is given."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import SocketStream
from starlette.types import ASGIApp, Receive, Scope, Send

from rhapsode_http.address import Address, TcpAddress, UnixAddress
from rhapsode_http.beside import beside
from rhapsode_http.limits import Limits
from rhapsode_http.server import Server
from rhapsode_http.sockets import bind


@asynccontextmanager
async def serving(
    app: ASGIApp, *, limits: Limits | None = None, address: Address | None = None
) -> AsyncGenerator[Server]:
    """Serves `app` for the length of a block; on a free port of loopback where no address is given.

    Raises:
        SocketError: The address cannot be listened on.
    """
    server = Server(app, bind(address or TcpAddress("127.0.0.1", 0)), limits=limits)
    started, ended = anyio.Event(), anyio.Event()

    class _Started:
        def started(self, value: object = None) -> None:
            started.set()

    async def serve() -> None:
        try:
            await server.serve(task_status=_Started())  # type: ignore[arg-type]
        finally:
            ended.set()

    async with beside(serve):
        await started.wait()
        yield server
        server.close()
        await ended.wait()


def http_only(app: ASGIApp) -> ASGIApp:
    """Returns an app that is asked about requests alone, and not about its lifespan."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']!r} is not served")  # ASGI's way to say so
        await app(scope, receive, send)

    return guarded


class RawClient:
    """A connection without HTTP."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._buffer = bytearray()

    async def send(self, data: bytes) -> None:
        """Sends `data` as it is."""
        await self._stream.send(data)

    async def send_eof(self) -> None:
        """Says that nothing more will be sent."""
        await self._stream.send_eof()

    async def read_until(self, end: bytes) -> bytes:
        """Returns everything up to and with `end`.

        Raises:
            anyio.EndOfStream: The peer closed before.
        """
        while end not in self._buffer:
            self._buffer += await self._stream.receive()
        split = self._buffer.index(end) + len(end)
        found = bytes(self._buffer[:split])
        del self._buffer[:split]
        return found

    async def read_to_end(self) -> bytes:
        """Returns everything until the peer closes.

        Raises:
            anyio.BrokenResourceError: It ended with a reset.
        """
        try:
            while True:
                self._buffer += await self._stream.receive()
        except anyio.EndOfStream:
            return bytes(self._buffer)


@asynccontextmanager
async def connected(
    address: Address, *, receive_buffer_bytes: int | None = None
) -> AsyncGenerator[RawClient]:
    """Connects a `RawClient` for the length of a block."""
    if isinstance(address, UnixAddress):
        stream: SocketStream = await anyio.connect_unix(address.path)
    else:
        stream = await anyio.connect_tcp(address.host, address.port)
    if receive_buffer_bytes is not None:
        raw = stream.extra(anyio.abc.SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
    async with stream:
        yield RawClient(stream)
