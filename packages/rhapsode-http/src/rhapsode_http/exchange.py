"""One request and its answer on a server's connection: ASGI on one side, HTTP/1.1 on the other."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Protocol

import anyio.lowlevel
from rhapsode_contract.errors import Internal, RhapsodeError
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message
from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    RequestResponseCycle,
)

from rhapsode_http.abort import as_abort
from rhapsode_http.ahead import PACED_BYTES, RUNS_AHEAD
from rhapsode_http.deadline import WriteStall
from rhapsode_http.envelope import error_response, internal_error
from rhapsode_http.listener import Listener, ListenerLeft
from rhapsode_http.request_id import REQUEST_ID_HEADER, id_of

_logger = logging.getLogger(__name__)


class Line(Protocol):
    """What an exchange needs of the connection it is on."""

    stall: WriteStall

    @property
    def is_request_whole(self) -> bool:
        """Whether all of the request that is being answered has arrived."""
        ...

    @property
    def is_last_answer(self) -> bool:
        """Whether the connection ends after this answer whatever the client asked for."""
        ...

    def wake_writer(self) -> None:
        """Has whoever waits to write look again whether they may."""
        ...

    async def room_ahead(self, exchange: "Exchange") -> None:
        """Returns once an answer that runs ahead of its listener may be written on."""
        ...

    def answered(self, exchange: "Exchange") -> None:
        """The answer is written whole."""
        ...

    def cut(self, exchange: "Exchange") -> None:
        """The answer will never be whole."""
        ...


class Exchange:
    """Runs an app on one request, and writes what it sends.

    uvicorn's cycle keeps the request's body, the state of the answer, and the framing of heads
    and chunks. What it lacks is here: trailers, endings that a client can tell from success, and
    answers that outlive a request which is still arriving.
    """

    def __init__(self, line: Line, cycle: RequestResponseCycle, app: ASGIApp) -> None:
        self._line = line
        self._app = app
        self.cycle = cycle
        self._listener = Listener()
        self._listener.add_to(cycle.scope)  # type: ignore[arg-type]  # uvicorn's own names
        self.has_raw_body = False
        """The body ends where the connection does, since HTTP/1.0 has no chunks."""
        self._status = 0
        self._has_trailers_to_come = False
        self._runs_ahead = False
        self._task: asyncio.Task[object] | None = None
        self._refusal: RhapsodeError | None = None
        self._trailer_lines: list[bytes] | None = None
        """Collected once the body is whole and its last chunk is held back; None before."""

    async def run(self) -> None:
        """Serves the request to its end. Raises nothing but cancellation."""
        self._task = asyncio.current_task()
        try:
            await self._app(self.cycle.scope, self.cycle.receive, self.send)  # type: ignore[arg-type]  # uvicorn's own names for the same shapes
        except Exception as error:
            await self._fail(error)
        except asyncio.CancelledError:
            if self._refusal is None or self.cycle.response_started:
                self._cut()
                raise
            assert self._task is not None
            self._task.uncancel()
            await self._answer(self._refusal)
        except BaseException:
            self._cut()
            raise
        else:
            await self._check_finished()

    def refuse(self, error: RhapsodeError) -> bool:
        """Answers with an error in place of what is not begun yet; returns whether that was so."""
        if self._task is None or self.cycle.response_started or self.cycle.disconnected:
            return False
        self._refusal = error
        self._task.cancel()
        return True

    # --- Endings --------------------------------------------------------------------------------

    async def _fail(self, error: Exception) -> None:
        """Logs what the app raised, and ends the answer as well as it still can be."""
        if self.cycle.disconnected and isinstance(error, ClientDisconnect | ListenerLeft):
            return
        if (abort := as_abort(error)) is not None:
            _logger.warning("%s: answer aborted: %s", self._what, abort)
        elif not self._is_answered_failure:
            _logger.error("%s failed", self._what, exc_info=error)
        if not self.cycle.response_complete:
            await self._give_up(error)

    @property
    def _is_answered_failure(self) -> bool:
        """Whether a framework has answered for what it raises, as Starlette does with every bug."""
        return self.cycle.response_complete and self._status == Internal.status

    async def _check_finished(self) -> None:
        if self.cycle.response_complete or self.cycle.disconnected:
            return
        error = RuntimeError("the app returned before its answer was whole")
        _logger.error("%s: %s", self._what, error)
        await self._give_up(error)

    async def _give_up(self, error: Exception) -> None:
        if self.cycle.response_started:
            self._cut()
            return
        await self._answer(internal_error(error))

    async def _answer(self, error: RhapsodeError) -> None:
        scope, receive = self.cycle.scope, self.cycle.receive
        answer = error_response(error, {REQUEST_ID_HEADER: id_of(self.cycle.scope)})  # type: ignore[arg-type]  # as in run()
        await answer(scope, receive, self.send)  # type: ignore[arg-type]  # as in run()

    def _cut(self) -> None:
        if not self.cycle.response_complete:
            self.hang_up()
            self._line.cut(self)

    def hang_up(self) -> None:
        """Tells the app that its client is gone; what it still sends goes nowhere."""
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        # A writer that waits for room would otherwise wait for a client that has been given up.
        self.cycle.flow.resume_writing()
        self._line.wake_writer()
        self._listener.leave()

    @property
    def _what(self) -> str:
        return f"{self.cycle.scope['method']} {self.cycle.scope['path']}"

    # --- ASGI send ------------------------------------------------------------------------------

    async def send(self, message: Message) -> None:
        """ASGI's `send`. Messages after a disconnect are dropped.

        Raises:
            RuntimeError: The message does not fit here; a bug of the app.
        """
        kind = message["type"]
        if self.cycle.disconnected:
            # Yields: an app that does nothing but send would else never hear that it may stop.
            await anyio.lowlevel.checkpoint()
        elif self._trailer_lines is not None:
            await self._send_trailers(message)
        elif not self.cycle.response_started:
            await self._start(message)
        elif kind == "http.response.body" and not self.cycle.response_complete:
            await self._send_body(message)
        else:
            await self._write(message)  # uvicorn says what is wrong with it

    async def _start(self, message: Message) -> None:
        if message["type"] != "http.response.start":
            await self._write(message)
            return
        cycle = self.cycle
        headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
        has_length = any(name.lower() == b"content-length" for name, _ in headers)
        is_old = cycle.scope["http_version"] == "1.0"
        if is_old and not has_length:
            self.has_raw_body = True
            cycle.chunked_encoding = False
            # None can come after a body that only the end of the connection ends.
            headers = [pair for pair in headers if pair[0].lower() != b"trailer"]
        # What a client sends of a body that nobody will read must not be taken for its next
        # request, nor cost us the reading of it.
        if not self._line.is_request_whole or self._line.is_last_answer:
            cycle.keep_alive = False
        if not cycle.keep_alive and not _says_close(headers):
            headers.append((b"connection", b"close"))
        self._status = int(message["status"])
        self._has_trailers_to_come = bool(message.get("trailers"))
        self._runs_ahead = bool(message.get(RUNS_AHEAD))
        await self._write({**message, "headers": headers})

    async def _send_body(self, message: Message) -> None:
        cycle = self.cycle
        body: bytes = message.get("body", b"")
        if self.has_raw_body:
            cycle.expected_content_length = len(body)
        if len(body) > PACED_BYTES and not self._runs_ahead:
            await self._send_at_its_pace(memoryview(body))
        elif body or cycle.scope["method"] == "HEAD":
            await self._write({"type": "http.response.body", "body": body, "more_body": True})
        if message.get("more_body", False) or cycle.disconnected:
            return
        if cycle.expected_content_length != 0:
            raise RuntimeError("the answer is shorter than its Content-Length")
        if self._has_trailers_to_come:
            self._trailer_lines = []
        else:
            self._finish(())

    async def _send_at_its_pace(self, body: memoryview) -> None:
        """Sends much at once of an answer that does not run ahead of its listener: the rest stays
        with us, and does not count as what waits to be written.
        """
        for begin in range(0, len(body), PACED_BYTES):
            if self.cycle.disconnected:
                return
            piece = bytes(body[begin : begin + PACED_BYTES])
            await self._write({"type": "http.response.body", "body": piece, "more_body": True})

    async def _send_trailers(self, message: Message) -> None:
        if message["type"] != "http.response.trailers":
            raise RuntimeError(f"expected http.response.trailers, got {message['type']}")
        assert self._trailer_lines is not None
        for name, value in message.get("headers", ()):
            if HEADER_RE.search(name) or HEADER_VALUE_RE.search(value):
                raise RuntimeError(f"the trailer {name!r} has a character that no header may have")
            self._trailer_lines.append(name.lower() + b": " + value + b"\r\n")
        if message.get("more_trailers", False):
            return
        if self._runs_ahead:
            await self._line.room_ahead(self)
        elif self.cycle.flow.write_paused and not self.cycle.disconnected:
            await self.cycle.flow.drain()
        lines, self._trailer_lines = self._trailer_lines, None
        if not self.cycle.disconnected:
            self._finish(lines)

    def _finish(self, trailer_lines: Iterable[bytes]) -> None:
        cycle = self.cycle
        if cycle.chunked_encoding and cycle.scope["method"] != "HEAD":
            self._line.stall.observe()
            cycle.transport.write(b"".join((b"0\r\n", *trailer_lines, b"\r\n")))
            self._line.stall.observe()
        cycle.response_complete = True
        cycle.message_event.set()
        self._line.answered(self)

    async def _write(self, message: dict[str, Any] | Message) -> None:
        self._line.stall.observe()
        if self._runs_ahead:
            await self._line.room_ahead(self)
        await self.cycle.send(message)  # type: ignore[arg-type]  # as in run()
        self._line.stall.observe()


def _says_close(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(
        name.lower() == b"connection" and b"close" in value.lower() for name, value in headers
    )
