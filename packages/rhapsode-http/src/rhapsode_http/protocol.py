"""One connection of a server: uvicorn's HTTP/1.1 protocol, with bounds and honest endings."""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable, Coroutine
from email.utils import formatdate
from enum import Enum
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import httptools
from rhapsode_contract.errors import BadRequest, RhapsodeError
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from rhapsode_http.ahead import PACED_BYTES, Backlog
from rhapsode_http.cork import CorkedTransport
from rhapsode_http.deadline import Deadline, WriteStall
from rhapsode_http.envelope import error_response
from rhapsode_http.exchange import Exchange
from rhapsode_http.limits import Limits
from rhapsode_http.path import decoded_path
from rhapsode_http.request_id import REQUEST_ID_HEADER, mint_request_id

_logger = logging.getLogger(__name__)

Spawn = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
"""Starts a task that the server owns."""


class Receiving(Enum):
    """What of a request is on its way. A shadow of the parser, which alone moves it."""

    NOTHING = "nothing"
    HEAD = "head"
    BODY = "body"


class ServerConnection(HttpToolsProtocol):
    """Reads requests, runs each as an `Exchange`, and bounds what a peer can cost.

    uvicorn's class parses, makes the ASGI scope, queues pipelined requests and controls the flow.
    Added here: limits on heads and silence, error envelopes for what is not HTTP, request
    trailers kept out of the headers, and a close that does not destroy the answer before it.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        limits: Limits,
        spawn: Spawn,
        backlog: Backlog,
    ) -> None:
        super().__init__(config, server_state, app_state, asyncio.get_running_loop())
        self._limits = limits
        self._spawn = spawn
        self._backlog = backlog
        self._room = asyncio.Event()
        """Set when whoever waits to write has to look again."""
        self._receiving = Receiving.NOTHING
        self._framing_bytes = 0
        """Fed to the parser since it last had a head, a piece of a body, or a whole message."""
        self.closed = asyncio.Event()
        """Set when the connection is gone."""
        self._active: Exchange | None = None
        self._has_deferred_upgrade = False
        self._is_deaf = False
        """Nothing more is parsed: what came is not HTTP, or the connection is ending."""
        self._linger_bytes: int | None = None
        """What may still be discarded; None before the connection is half-closed."""
        self._input_deadline = Deadline(self.loop, self._input_expired)
        self._linger_deadline = Deadline(self.loop, self._linger_expired)

    # --- asyncio's side -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._corked = transport = CorkedTransport(transport, self.loop)
        super().connection_made(transport)
        self.client = _without_mapping(self.client)
        self.stall = WriteStall(
            self.loop,
            transport,
            self._limits.write_stall_seconds,
            self._write_stalled,
            self._backlog,
        )
        self._input_deadline.start(self._limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._input_deadline, self._linger_deadline, self.stall):
            timer.close()
        if self._active is not None:
            # uvicorn tells the newest request alone, which is another one where two are queued.
            self._active.hang_up()
            self._active = None
        super().connection_lost(exc)
        self.closed.set()

    def data_received(self, data: bytes) -> None:
        if self._linger_bytes is not None:
            self._discard(len(data))
        elif not self._is_deaf:
            self._parse(memoryview(data))

    def _parse(self, data: memoryview) -> None:
        """Feeds the parser in pieces no longer than what a head may still take."""
        limit = self._limits.head_bytes
        while data and not self._is_deaf:
            piece = data[: limit - self._framing_bytes]
            data = data[len(piece) :]
            self._framing_bytes += len(piece)
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade as upgrade:
                data = self._ignore_upgrade(memoryview(bytes(piece[upgrade.args[0] :]) + data))
            except httptools.HttpParserError as error:
                _logger.debug("malformed request: %s", error)
                self._refuse(_as_refusal(error))
            if self._framing_bytes >= limit:
                self._refuse(BadRequest(f"a request head may be {limit:,} bytes long"))
        if self._receiving is Receiving.BODY:
            self._input_deadline.start(self._limits.body_silence_seconds)

    # --- The parser's side ----------------------------------------------------------------------

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._receiving = Receiving.HEAD
        self._input_deadline.start(self._limits.head_seconds)

    def on_header(self, name: bytes, value: bytes) -> None:
        # After the head these are trailers, and uvicorn's list is the one that a guard has read.
        if self._receiving is Receiving.HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._framing_bytes = 0
        if self.parser.should_upgrade():
            self._has_deferred_upgrade = True
            return
        version = self.parser.get_http_version()
        _check_host(self.headers, version)
        self._receiving = Receiving.BODY
        self.server_state.default_headers = [(b"date", _date(int(self.loop.time())))]
        # uvicorn looks at the request's `Connection` header only in its later versions.
        keeps_alive = version != "1.0" and self.parser.should_keep_alive()
        super().on_headers_complete()
        self.cycle.keep_alive = keeps_alive

    def on_body(self, body: bytes) -> None:
        self._framing_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._has_deferred_upgrade:
            return
        self._framing_bytes = 0
        self._receiving = Receiving.NOTHING
        self._input_deadline.stop()
        super().on_message_complete()

    def _ignore_upgrade(self, rest: memoryview) -> memoryview:
        """Parses the head again without its wish to change protocols.

        A server may ignore it (RFC 9110 § 7.8), and some clients wish for HTTP/2 in every request
        of theirs; but the parser takes the body of such a request for the other protocol.

        Returns:
            What to parse next, in place of `rest`, the bytes after the head.
        """
        wish = self._get_upgrade()
        method = self.parser.get_method()
        self._has_deferred_upgrade = False
        if method == b"CONNECT" or wish == b"websocket":
            what = "a tunnel" if method == b"CONNECT" else "a WebSocket"
            self._refuse(BadRequest(f"{what} is not served here"))
            return memoryview(b"")
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s\r\n" % (method, self.url, version)]
        lines += [
            b"%s: %s\r\n" % (name, value)
            for name, value in self.headers
            if name not in {b"connection", b"upgrade", b"http2-settings"}
        ]
        self.parser = httptools.HttpRequestParser(self)
        self._framing_bytes = 0
        return memoryview(b"".join([*lines, b"\r\n", rest]))

    # --- Exchanges ------------------------------------------------------------------------------

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        scope = cycle.scope
        scope.setdefault("extensions", {})["http.response.trailers"] = {}  # type: ignore[typeddict-item]
        if b"%" in scope["raw_path"]:
            scope["path"] = decoded_path(scope["raw_path"])
        self._active = exchange = Exchange(self, cycle, app)
        self._spawn(exchange.run)

    @property
    def is_request_whole(self) -> bool:
        """Whether all of the request that is being answered has arrived."""
        return self._active is None or not self._active.cycle.more_body

    @property
    def is_last_answer(self) -> bool:
        """Whether the connection ends after this answer whatever the client asked for."""
        return self._is_deaf

    def resume_writing(self) -> None:
        super().resume_writing()
        self.stall.observe()
        self.wake_writer()

    def wake_writer(self) -> None:
        """Has whoever waits to write look again whether they may."""
        self._room.set()

    async def room_ahead(self, exchange: Exchange) -> None:
        """Returns once an answer that runs ahead of its listener may be written on."""
        while not (self._backlog.has_room or exchange.cycle.disconnected):
            self._corked.flush()  # only a transport that holds more says when it holds less
            if self._corked.get_write_buffer_size() <= PACED_BYTES:
                break
            self._room.clear()
            await self._backlog.wait(self._room)
        self.flow.resume_writing()  # its listener's pace is not for this answer

    def answered(self, exchange: Exchange) -> None:
        """Goes on to the next request, or ends the connection."""
        self._active = None
        self._corked.flush()  # nothing that is worth waiting for comes after it
        if self.transport.is_closing():
            return
        if not exchange.cycle.keep_alive or self._is_deaf:
            self._end()
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._receiving is Receiving.NOTHING:
            self._input_deadline.start(self._limits.keep_alive_seconds)

    def cut(self, exchange: Exchange) -> None:
        """Ends the connection inside an answer, by FIN so that what was sent still arrives."""
        self._active = None
        if exchange.has_raw_body:
            # There a FIN is how a whole body ends; only a reset says that this one is not.
            raw = self.transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        else:
            self._end()

    # --- Endings --------------------------------------------------------------------------------

    def shutdown(self) -> None:
        """Closes the connection once what is written has left; an answer in the making is cut."""
        if self._active is not None:
            self._active.hang_up()
            self.cut(self._active)
        elif self._linger_bytes is None:
            self._is_deaf = True
            self.transport.close()

    def refuse(self, error: RhapsodeError) -> bool:
        """Answers the request in hand with an error, where no answer has begun, and closes."""
        if self._active is None or not self._active.refuse(error):
            return False
        self._is_deaf = True
        return True

    def abort(self) -> None:
        """Closes the connection now, with whatever it has not written."""
        self.transport.abort()

    def _refuse(self, error: RhapsodeError) -> None:
        """Answers what cannot be read as a request, and ends the connection."""
        self._is_deaf = True
        active = self._active
        if active is not None and self.is_request_whole:
            # An earlier request is being answered; the connection ends with that answer.
            self.flow.pause_reading()
            return
        if active is not None:
            self._active = None
            active.hang_up()
            if active.cycle.response_started:
                self._end()
                return
        self.transport.write(_refusal(error))
        self.stall.observe()
        self._end()

    def _end(self) -> None:
        """Closes after what has been written; a peer that still sends is heard out, in bounds.

        Closing on unread data sends a reset, which destroys the answer in the peer's buffer.
        """
        if self._linger_bytes is not None or self.transport.is_closing():
            return
        has_unread = self._is_deaf or self._receiving is not Receiving.NOTHING or self.pipeline
        self._is_deaf = True
        self._input_deadline.close()
        if not has_unread:
            self.transport.close()
            return
        self._linger_bytes = self._limits.linger_bytes
        self.transport.write_eof()
        self.flow.resume_reading()
        self._linger_deadline.start(self._limits.linger_seconds)

    def _discard(self, count: int) -> None:
        assert self._linger_bytes is not None
        self._linger_bytes -= count
        if self._linger_bytes < 0:
            self.transport.abort()

    def _linger_expired(self) -> None:
        if self.transport.get_write_buffer_size():
            self._linger_deadline.start(self._limits.linger_seconds)  # WriteStall bounds this
        else:
            self.transport.abort()

    def _input_expired(self) -> None:
        if self._receiving is Receiving.BODY and not self._is_body_awaited:
            self._input_deadline.start(self._limits.body_silence_seconds)
        elif self._receiving is Receiving.HEAD and self._active is not None:
            self._is_deaf = True  # the earlier answer is finished first
            self.flow.pause_reading()
        elif self.transport.get_write_buffer_size():
            # It is taken first; WriteStall bounds that.
            if self._receiving is Receiving.HEAD:
                self._end()
            else:
                self._input_deadline.start(self._limits.keep_alive_seconds)
        else:
            _logger.debug("dropped a connection: silent while receiving %s", self._receiving.value)
            self.transport.abort()

    @property
    def _is_body_awaited(self) -> bool:
        """Whether it is the peer's turn: we are reading, and have said so where it asked."""
        return not self.flow.read_paused and not self.cycle.waiting_for_100_continue

    def _write_stalled(self) -> None:
        _logger.info("dropped a client that read nothing of its answer")
        self.transport.abort()


def _check_host(headers: list[tuple[bytes, bytes]], version: str) -> None:
    """Refuses a request of HTTP/1.1 that has no `Host`, or more than one (RFC 9112 § 3.2).

    Two readers that each take another of the two would take it for two different requests.

    Raises:
        BadRequest: It comes out of the parser as the context of the parser's own error.
    """
    count = 0
    for name, _ in headers:
        if name == b"host":
            count += 1
    if count != 1 and version == "1.1":
        raise BadRequest(f"Host: HTTP/1.1 wants this header once, and it came {count} times")


def _as_refusal(error: httptools.HttpParserError) -> BadRequest:
    """Returns what a caller is told of bytes that are no request."""
    if isinstance(error.__context__, BadRequest):
        return error.__context__
    return BadRequest(f"the request is not HTTP/1.1: {error}")


def _refusal(error: RhapsodeError) -> bytes:
    """Returns an answer for which there is no request to run an app on."""
    answer = error_response(error, {"Connection": "close", REQUEST_ID_HEADER: mint_request_id()})
    phrase = HTTPStatus(answer.status_code).phrase.encode()
    head = [b"HTTP/1.1 %d %s\r\n" % (answer.status_code, phrase)]
    head += [b"%s: %s\r\n" % pair for pair in answer.raw_headers]
    return b"".join([*head, b"\r\n", bytes(answer.body)])


def _without_mapping(client: tuple[str, int] | None) -> tuple[str, int] | None:
    """Returns an IPv4 peer of a dual-stack socket as IPv4, as a guard expects to see it."""
    if client is None:
        return None
    host, port = client
    return host.removeprefix("::ffff:") if "." in host else host, port


@lru_cache(maxsize=1)
def _date(_second: int) -> bytes:
    return formatdate(usegmt=True).encode()
