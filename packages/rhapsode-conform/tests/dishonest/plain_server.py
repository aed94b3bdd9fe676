"""An HTTP/1.1 server of the standard library alone, for one ASGI app: just what a worker needs."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

App = Callable[..., Awaitable[None]]
Message = MutableMapping[str, Any]

_CRLF = b"\r\n"


class PlainServer:
    """Serves until it is closed."""

    def __init__(self, app: App) -> None:
        """Listens nowhere yet."""
        self._app = app
        self._writers: set[asyncio.StreamWriter] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection; what `asyncio.start_server` calls."""
        self._writers.add(writer)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def end_bodies(self) -> None:
        """Ends every answer as if it were whole, wherever it stands."""
        writers = list(self._writers)
        for writer in writers:
            writer.write(b"0" + _CRLF + _CRLF)
            writer.close()
        for writer in writers:
            await writer.wait_closed()

    def cut(self) -> None:
        """Ends every connection where it stands."""
        for writer in self._writers:
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serves one request; returns whether another may follow."""
        try:
            head = await reader.readuntil(_CRLF + _CRLF)
        except asyncio.IncompleteReadError:
            return False
        line, *fields = head[:-4].split(_CRLF)
        method, target, _ = line.split(b" ")
        headers = [
            (name.strip().lower(), value.strip())
            for name, _, value in (field.partition(b":") for field in fields)
        ]
        body = await reader.readexactly(int(dict(headers).get(b"content-length", b"0")))

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        path = target.partition(b"?")[0]
        scope = {"type": "http", "method": method.decode(), "raw_path": path, "headers": headers}
        await self._app(scope, receive, _Answer(writer).send)
        return True


class _Answer:
    """Writes what the app sends."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._is_chunked = False
        self._has_trailers = False

    async def send(self, message: Message) -> None:
        """ASGI's `send`."""
        if message["type"] == "http.response.start":
            self._start(message)
        elif message["type"] == "http.response.trailers":
            lines = b"".join(_line(pair) for pair in message["headers"])
            self._writer.write(b"0" + _CRLF + lines + _CRLF)
        else:
            self._body(message)
        await self._writer.drain()

    def _start(self, message: Message) -> None:
        headers: list[tuple[bytes, bytes]] = list(message["headers"])
        self._has_trailers = bool(message.get("trailers"))
        self._is_chunked = b"content-length" not in dict(headers)
        if self._is_chunked and message["status"] != 204:
            headers.append((b"transfer-encoding", b"chunked"))
        lines = b"".join(_line(pair) for pair in headers)
        self._writer.write(b"HTTP/1.1 %d -" % message["status"] + _CRLF + lines + _CRLF)

    def _body(self, message: Message) -> None:
        body: bytes = message.get("body", b"")
        if not self._is_chunked:
            self._writer.write(body)
            return
        if body:
            self._writer.write(b"%x" % len(body) + _CRLF + body + _CRLF)
        if not message.get("more_body") and not self._has_trailers:
            self._writer.write(b"0" + _CRLF + _CRLF)


def _line(pair: tuple[bytes, bytes]) -> bytes:
    return pair[0] + b": " + pair[1] + _CRLF
