"""Requests to one peer: a core's to a worker, over connections that are kept for reuse."""

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from types import TracebackType

import anyio

from rhapsode_http.address import Address, UnixAddress
from rhapsode_http.connection import (
    ClientConnection,
    UpstreamResponse,
    UpstreamTruncated,
    UpstreamUnreachable,
)
from rhapsode_http.pool import Pool

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET = re.compile(r"[!-~]+")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")

Headers = Iterable[tuple[bytes, bytes]]


class Client:
    """Speaks HTTP/1.1 to one address; trailers come back with the answer.

    It sets no deadlines: the caller puts `anyio.fail_after` around a request or a read. A request
    that is cancelled closes its connection. Must run on asyncio.
    """

    def __init__(
        self,
        address: Address,
        *,
        base: str = "",
        headers: Headers = (),
        tls: ssl.SSLContext | None = None,
        idle_seconds: float = 30,
        max_idle: int = 64,
    ) -> None:
        """Prepares a client; nothing is connected yet.

        Args:
            address: The peer.
            base: What every target begins with, percent-encoded and without a slash at its end.
            headers: Sent with every request.
            tls: Encrypts every connection and checks who answers; a TCP address only.
            idle_seconds: How long an unused connection is kept. Less than the peer keeps one.
            max_idle: How many unused connections are kept.

        Raises:
            ValueError: `base` or a header has a character that may not be there.
        """
        own = list(headers)
        _check("GET", base or "/", own)
        self._address = address
        self._base = base
        self._tls = tls
        self._pool = Pool(idle_seconds=idle_seconds, max_idle=max_idle)
        host = "localhost" if isinstance(address, UnixAddress) else address.authority
        self._own_lines = b"host: %s\r\nte: trailers\r\n" % host.encode()
        self._own_lines += b"".join(b"%s: %s\r\n" % pair for pair in own)

    async def request(
        self,
        method: str,
        target: str,
        headers: Headers = (),
        body: bytes | AsyncIterable[bytes] = b"",
    ) -> UpstreamResponse:
        """Sends a request and returns the answer once its head has come.

        A body that is iterated is sent in chunks, or as it is where `headers` hold its
        `content-length`, at the pace of the peer; a peer that answers before it has taken all of
        it ends the sending. An error of the iterator passes through.

        A connection that was kept may have been closed by the peer meanwhile: then the request is
        sent once more, where nothing of an answer had come and the body is bytes.

        Args:
            method: Such as `"POST"`.
            target: Path and query, percent-encoded.
            headers: Besides `host` and `te`, which are the client's.
            body: All of it, or an iterable that is read once.

        Raises:
            UpstreamUnreachable: No connection could be made.
            UpstreamTruncated: The peer hung up before it answered, or the client was closed.
            UpstreamProtocolError: The answer cannot be read.
            ValueError: A header, the method or the target has a character that may not be there.
        """
        head = self._head(method, target, list(headers), body)
        connection = self._pool.take()
        if connection is not None:
            try:
                return await self._exchange(connection, method, head, body)
            except UpstreamTruncated as lost:
                if connection.has_answered or not isinstance(body, bytes) or self._pool.is_closed:
                    raise
                return await self._exchange(await self._connect_again(lost), method, head, body)
        return await self._exchange(await self._connect(), method, head, body)

    async def aclose(self) -> None:
        """Closes every connection; requests and readers in flight fail. May be called again."""
        await self._pool.aclose()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with anyio.CancelScope(shield=True):  # an abort is over within a turn of the loop
            await self.aclose()

    # --- One request ----------------------------------------------------------------------------

    async def _exchange(
        self,
        connection: ClientConnection,
        method: str,
        head: bytes,
        body: bytes | AsyncIterable[bytes],
    ) -> UpstreamResponse:
        """Sends on `connection` and waits for the head of the answer."""
        answer = connection.begin(method)
        try:
            if isinstance(body, bytes):
                connection.send(head + body)
                return await answer
            return await _send_until_answered(connection, answer, head, body)
        except BaseException:
            connection.abort(UpstreamTruncated("the request was given up"))
            raise

    def _head(
        self,
        method: str,
        target: str,
        headers: list[tuple[bytes, bytes]],
        body: bytes | AsyncIterable[bytes],
    ) -> bytes:
        _check(method, target, headers)
        target = self._base + target
        lines = [b"%s %s HTTP/1.1\r\n" % (method.encode(), target.encode()), self._own_lines]
        lines += [b"%s: %s\r\n" % pair for pair in headers]
        if not any(name.lower() == b"content-length" for name, _ in headers):
            if not isinstance(body, bytes):
                lines.append(b"transfer-encoding: chunked\r\n")
            elif body or method not in {"GET", "HEAD"}:
                lines.append(b"content-length: %d\r\n" % len(body))
        return b"".join([*lines, b"\r\n"])

    async def _connect_again(self, lost: UpstreamTruncated) -> ClientConnection:
        """Connects for a second try; a peer that is gone has failed the first one.

        Raises:
            UpstreamTruncated: `lost`, since the request may have reached the peer.
        """
        try:
            return await self._connect()
        except UpstreamUnreachable:
            raise lost from None

    async def _connect(self) -> ClientConnection:
        if self._pool.is_closed:
            raise UpstreamUnreachable("the client is closed")
        loop = asyncio.get_running_loop()
        address = self._address
        connection = ClientConnection(self._pool)
        try:
            if isinstance(address, UnixAddress):
                await loop.create_unix_connection(lambda: connection, str(address.path))
            else:
                await loop.create_connection(
                    lambda: connection, address.host, address.port, ssl=self._tls
                )
        except asyncio.CancelledError:
            # uvloop closes the socket then, and never tells the protocol that it is lost.
            self._pool.lost(connection)
            raise
        except OSError as error:
            raise UpstreamUnreachable(f"cannot reach {address}: {error}") from error
        return connection


def _check(method: str, target: str, headers: Headers) -> None:
    """Refuses what would end a line early, and so be read as something else by the peer."""
    if not _TOKEN.fullmatch(method.encode()):
        raise ValueError(f"{method!r} is not a method")
    if not _TARGET.fullmatch(target):
        raise ValueError(f"the target {target!r} is not percent-encoded")
    for name, value in headers:
        if not (_TOKEN.fullmatch(name) and _VALUE.fullmatch(value)):
            raise ValueError(f"the header {name!r} cannot be sent")


async def _send_until_answered(
    connection: ClientConnection,
    answer: asyncio.Future[UpstreamResponse],
    head: bytes,
    body: AsyncIterable[bytes],
) -> UpstreamResponse:
    """Sends a body piece by piece beside the wait for an answer, which ends the sending."""
    failure: Exception | None = None

    async def send() -> None:
        nonlocal failure
        try:
            await _send_body(connection, head, body)
        except Exception as error:
            failure = error  # the iterator's own; raised below, outside of a group
            answer.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        await asyncio.wait([answer])
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return answer.result()


async def _send_body(connection: ClientConnection, head: bytes, body: AsyncIterable[bytes]) -> None:
    """Sends a head and the body after it; closes a generator that is not read to its end."""
    is_chunked = b"\r\ntransfer-encoding: chunked\r\n" in head
    await connection.write(head)
    pieces = aiter(body)
    try:
        async for piece in pieces:
            if piece:
                framed = b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece
                await connection.write(framed)
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
    connection.is_request_sent = True
    if is_chunked:
        await connection.write(b"0\r\n\r\n")
