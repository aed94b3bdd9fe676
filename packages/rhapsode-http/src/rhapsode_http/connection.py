"""One connection of a client, and the answer that is read from it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Protocol, cast

import anyio.lowlevel
import httptools

HIGH_WATER_BYTES = 256 * 1024
"""More than this unread, and the peer is made to wait."""

HEAD_LIMIT_BYTES = 64 * 1024
"""An answer's head, its trailers, or the framing between two pieces of its body."""

_BODILESS = frozenset({204, 304})


class UpstreamError(Exception):
    """A request to a peer that got no whole answer."""


class UpstreamUnreachable(UpstreamError):
    """No connection could be made; nothing was sent."""


class UpstreamTruncated(UpstreamError):
    """The connection ended, or was given up, before the answer was whole."""


class UpstreamProtocolError(UpstreamError):
    """What came is not an answer that this client can read."""


class UpstreamTooLong(UpstreamProtocolError):
    """The answer is longer than its reader allows."""


class UpstreamResponse:
    """An answer, its body read piece by piece.

    Use it as `async with response:`; leaving the block before the end gives the answer up, which
    closes the connection, which is how the peer learns of it.
    """

    def __init__(self, connection: "ClientConnection") -> None:
        self._connection = connection
        self._pieces: deque[bytes] = deque()
        self._unread_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        self._failure: UpstreamError | None = None
        self._is_whole = False
        self.status = 0
        """HTTP status; 0 until the head has come."""
        self.headers: list[tuple[bytes, bytes]] = []
        """In the peer's order, names in lower case."""
        self.trailers: list[tuple[bytes, bytes]] = []
        """As `headers`; complete when the body is."""

    def header(self, name: str) -> str | None:
        """Returns the first header of this name, whatever its case, or None."""
        wanted = name.lower().encode("latin-1")
        return next((value.decode("latin-1") for key, value in self.headers if key == wanted), None)

    @property
    def is_at_end(self) -> bool:
        """Whether the whole body has been read."""
        return self._is_whole and not self._pieces

    async def read(self) -> bytes:
        """Returns what has come of the body, waiting for some; `b""` at a complete end alone.

        One task reads at a time.

        Raises:
            UpstreamTruncated: The body ended before it was whole, or `abort()` was called.
            UpstreamProtocolError: The rest of the body cannot be read.
        """
        while not self._pieces:
            if self._failure is not None:
                raise self._failure
            if self._is_whole:
                return b""
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        body = b"".join(self._pieces)
        self._pieces.clear()
        self._unread_bytes = 0
        if not self._is_whole:
            self._connection.resume_reading()
        return body

    async def read_all(self, *, limit_bytes: int) -> bytes:
        """Returns the rest of the body, however many pieces it comes in.

        Raises:
            UpstreamTruncated: As `read()`.
            UpstreamProtocolError: As `read()`.
            UpstreamTooLong: It is longer than `limit_bytes`.
        """
        body = bytearray()
        async for piece in self:
            body += piece
            if len(body) > limit_bytes:
                self.abort()
                raise UpstreamTooLong(f"the answer is longer than {limit_bytes:,} bytes")
        return bytes(body)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.read():
            yield piece

    def abort(self) -> None:
        """Gives the answer up: closes the connection and wakes a reader. May be called again."""
        if not self._is_whole:
            self._connection.abort(UpstreamTruncated("the answer was given up"))

    async def __aenter__(self) -> "UpstreamResponse":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.abort()

    # --- The connection's side ------------------------------------------------------------------

    def feed(self, piece: bytes) -> None:
        """Takes a piece of the body."""
        self._pieces.append(piece)
        self._unread_bytes += len(piece)
        if self._unread_bytes > HIGH_WATER_BYTES:
            self._connection.pause_reading()
        self._wake()

    def complete(self) -> None:
        """Marks the body as whole."""
        self._is_whole = True
        self._wake()

    def fail(self, failure: UpstreamError) -> None:
        """Ends the body with an error; the first one counts. What was fed can still be read."""
        if not self._is_whole and self._failure is None:
            self._failure = failure
            self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class Keeper(Protocol):
    """Who keeps the connections."""

    def opened(self, connection: "ClientConnection") -> None:
        """The connection exists."""
        ...

    def released(self, connection: "ClientConnection") -> None:
        """An answer is whole, and another request may be sent."""
        ...

    def lost(self, connection: "ClientConnection") -> None:
        """The connection is gone."""
        ...


class ClientConnection(asyncio.Protocol):
    """A transport to the peer, for one request at a time."""

    def __init__(self, keeper: Keeper) -> None:
        self._loop = asyncio.get_running_loop()
        self._keeper = keeper
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._response: UpstreamResponse | None = None
        self._is_head_request = False
        self._framing_bytes = 0
        self._is_reading_paused = False
        self._writable = asyncio.Event()
        self._writable.set()
        self.has_answered = False
        """Whether any byte of an answer to the current request has come."""
        self.head: asyncio.Future[UpstreamResponse] | None = None
        """Done when the current answer's head has come, or cannot come any more."""
        self.is_request_sent = False
        """Whether the whole request has been written, so that another may follow."""
        self.idle_since = 0.0
        """Loop time of the last release, in seconds."""
        self.closed = asyncio.Event()
        """Set when the transport is gone."""

    @property
    def is_usable(self) -> bool:
        """Whether a request may be sent on it."""
        return self._transport is not None and not self._transport.is_closing()

    def begin(self, method: str) -> asyncio.Future[UpstreamResponse]:
        """Makes ready for the answer to a request, and returns what its head will complete."""
        self._response = UpstreamResponse(self)
        self._parser = httptools.HttpResponseParser(self)
        self._is_head_request = method == "HEAD"
        self._framing_bytes = 0
        self.has_answered = False
        self.is_request_sent = False
        self.head = self._loop.create_future()
        return self.head

    def send(self, request: bytes) -> None:
        """Writes a whole request, for whose answer `begin` has made ready. Silent once closed."""
        self.is_request_sent = True
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(request)

    async def write(self, data: bytes) -> None:
        """Writes a part of the request; waits while the peer takes none. Silent once closed."""
        # Yields even where there is room, so that a body made without waiting does not hold up
        # the answer to it.
        await anyio.lowlevel.checkpoint()
        await self._writable.wait()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def abort(self, failure: UpstreamError) -> None:
        """Closes the connection now; an answer still on its way fails with `failure`."""
        self._fail(failure)
        if self._transport is not None:
            self._transport.abort()

    def pause_reading(self) -> None:
        """Lets the peer wait."""
        if not self._is_reading_paused and self._transport is not None:
            self._is_reading_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Reads on."""
        if self._is_reading_paused:
            self._is_reading_paused = False
            if self._transport is not None and not self._transport.is_closing():
                self._transport.resume_reading()

    # --- asyncio's side -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclass
        self._keeper.opened(self)

    def data_received(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if self._response is None:
                self._refuse_unasked()
                return
            self.has_answered = True
            piece = view[: HEAD_LIMIT_BYTES - self._framing_bytes]
            view = view[len(piece) :]
            self._feed(piece)

    def _feed(self, piece: memoryview) -> None:
        assert self._parser is not None
        self._framing_bytes += len(piece)
        try:
            self._parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            self.abort(UpstreamProtocolError("the peer changed protocols unasked"))
        except httptools.HttpParserError as error:
            self.abort(UpstreamProtocolError(f"the answer is not HTTP/1.1: {error}"))
        if self._framing_bytes >= HEAD_LIMIT_BYTES:
            self.abort(UpstreamProtocolError(f"a head over {HEAD_LIMIT_BYTES:,} bytes"))

    def connection_lost(self, exc: Exception | None) -> None:
        reason = f": {exc}" if exc is not None else ""
        self._fail(UpstreamTruncated(f"the peer closed the connection{reason}"))
        self._writable.set()
        self._keeper.lost(self)
        self.closed.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # --- The parser's side ----------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._response is None:
            self._refuse_unasked()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._response is not None:
            is_trailer = self._response.status != 0
            pairs = self._response.trailers if is_trailer else self._response.headers
            pairs.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        response, status = self._response, self._parser.get_status_code()
        if response is None:
            return
        self._framing_bytes = 0
        if status < 200:
            response.headers.clear()  # an interim answer, such as 100 Continue
            return
        if not (self._is_head_request or status in _BODILESS or _is_framed(response.headers)):
            self.abort(UpstreamProtocolError("an answer whose end cannot be told from a failure"))
            return
        response.status = status
        if self.head is not None and not self.head.done():
            self.head.set_result(response)
        if self._is_head_request:
            self._complete()  # the parser would wait for the body that the head describes

    def on_body(self, body: bytes) -> None:
        self._framing_bytes = 0
        if self._response is None:
            self._refuse_unasked()
        else:
            self._response.feed(body)

    def on_message_complete(self) -> None:
        self._framing_bytes = 0
        if self._response is not None and self._response.status != 0:
            self._complete()

    def _complete(self) -> None:
        response, self._response = self._response, None
        assert response is not None and self._parser is not None
        is_reusable = self.is_request_sent and self._parser.should_keep_alive()
        response.complete()
        self.resume_reading()
        if is_reusable and self.is_usable:
            self.idle_since = self._loop.time()
            self._keeper.released(self)
        elif self._transport is not None:
            self._transport.abort()

    def _refuse_unasked(self) -> None:
        """Closes: what came would be taken for the answer to the next request."""
        self.abort(UpstreamProtocolError("bytes that no request asked for"))

    def _fail(self, failure: UpstreamError) -> None:
        response, self._response = self._response, None
        if response is None:
            return
        response.fail(failure)
        if self.head is not None and not self.head.done():
            self.head.set_exception(failure)
            self.head.exception()  # retrieved: the request may have been cancelled meanwhile


def _is_framed(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether the end of the body is said, by a length or by chunks."""
    for name, value in headers:
        if name == b"content-length":
            return True
        if name == b"transfer-encoding" and value.strip().lower().endswith(b"chunked"):
            return True
    return False
