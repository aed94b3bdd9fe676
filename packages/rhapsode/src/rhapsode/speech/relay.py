"""Audio from the worker to the client: streamed as it comes, or whole (contract § 6)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from rhapsode_contract import (
    DURATION_HEADER,
    Internal,
    read_error,
)
from rhapsode_http import (
    UNBUFFERED,
    StreamAborted,
    UpstreamError,
    UpstreamResponse,
    UpstreamUnreachable,
    send_stream,
    send_whole,
)
from starlette.types import Send

from rhapsode.speech.account import Account
from rhapsode.speech.dispatch import Dispatch
from rhapsode.workers.clock import Clock
from rhapsode.workers.session import Session, read_whole

FLOOR_BYTES: Final = 256
"""Fewer are no audio, whatever the status said."""
ERROR_BYTES: Final = 64 * 1024
"""More than any envelope holds."""

_DURATION: Final = DURATION_HEADER.lower().encode()


@dataclass(frozen=True)
class Audio:
    """A whole answer of a worker."""

    headers: list[tuple[bytes, bytes]]
    body: bytes

    async def send(self, send: Send) -> None:
        """Answers the client with it."""
        await send_whole(send, self.headers, self.body)


async def take_whole(
    session: Session, asked: Dispatch, clock: Clock, limit_bytes: int, account: Account
) -> Audio:
    """Asks for an utterance and returns its audio once all of it is there.

    Args:
        session: The worker's process.
        asked: Not streamed.
        clock: Runs already, or will once it is this request's turn.
        limit_bytes: More is not believed.
        account: Told of the audio.

    Raises:
        RhapsodeError: The worker refused or failed, took too long, or what it sent is no audio.
        ForeignError: It refused with a code that we do not know.
        UpstreamUnreachable: The process is gone; it was asked nothing.
    """
    with clock.running():
        try:
            async with await session.open(
                "POST", asked.target, asked.request.to_json()
            ) as response:
                content_type = await _expect_audio(response)
                account.note_first_byte()
                body = await _hear_whole(session, response, limit_bytes)
        except UpstreamUnreachable:
            raise
        except UpstreamError as error:
            raise await session.explain(error) from None
        if len(body) < FLOOR_BYTES:
            raise Internal(_too_short(len(body)))
        durations = _durations(response.headers, account)
        return Audio([(b"content-type", content_type), *durations], body)
    raise AssertionError("unreachable: the clock raises where it cuts a block off")


async def relay_stream(
    session: Session,
    asked: Dispatch,
    clock: Clock,
    stall_seconds: float,
    account: Account,
    send: Send,
) -> None:
    """Asks for an utterance and passes its audio on, each piece as it comes.

    Args:
        session: The worker's process.
        asked: Streamed.
        clock: Runs already, or will once it is this request's turn.
        stall_seconds: What may lie between two pieces.
        account: Told of the audio.
        send: ASGI's.

    Raises:
        RhapsodeError: The worker refused or failed before there was audio.
        ForeignError: It refused with a code that we do not know.
        UpstreamUnreachable: The process is gone; it was asked nothing.
        StreamAborted: It failed later; the client's connection has to be cut.
    """
    with clock.running():
        try:
            response = await session.open("POST", asked.target, asked.request.to_json())
        except UpstreamUnreachable:
            raise
        except UpstreamError as error:
            raise await session.explain(error) from None
        async with response:
            try:
                content_type = await _expect_audio(response)
            except UpstreamError as error:
                raise await session.explain(error) from None
            clock.stop()
            account.note_first_byte()
            headers = [
                (b"content-type", content_type),
                *UNBUFFERED,
                (b"trailer", DURATION_HEADER.encode()),
            ]
            pieces = _pieces(session, response, clock, stall_seconds)
            with session.listener(clock):
                # A slow listener keeps the engine and its place no longer than a fast one.
                await send_stream(
                    send,
                    headers,
                    pieces,
                    lambda: _durations(response.trailers, account),
                    runs_ahead=True,
                )


async def _pieces(
    session: Session, response: UpstreamResponse, clock: Clock, stall_seconds: float
) -> AsyncIterator[bytes]:
    """Yields the audio. The clock runs while the worker is waited for, not while the client is.

    Raises:
        StreamAborted: The body broke off, or is under the floor.
    """

    heard = session.pieces_heard

    def stalled() -> StreamAborted:
        session.note_silence("stall", stall_seconds, heard)
        return StreamAborted(f"stall: no audio came from the engine for {stall_seconds:g} s")

    count = 0
    while True:
        heard = session.pieces_heard
        clock.start(stall_seconds, stalled)
        try:
            piece = await response.read()
        except UpstreamError as error:
            session.suspect()
            raise StreamAborted(f"the engine broke off after {count} bytes: {error}") from None
        clock.stop()
        if not piece:
            break
        count += len(piece)
        session.pieces_heard += 1
        yield piece
    if count < FLOOR_BYTES:
        raise StreamAborted(_too_short(count))


async def _hear_whole(session: Session, response: UpstreamResponse, limit_bytes: int) -> bytes:
    """Returns the audio that is left of an answer, and counts it as heard while it comes.

    Raises:
        Internal: It is longer than `limit_bytes`.
        UpstreamError: It breaks off.
    """
    body = bytearray()
    async for piece in response:
        session.pieces_heard += 1
        body += piece
        if len(body) > limit_bytes:
            raise Internal(f"the engine sent more than {limit_bytes} bytes")
    return bytes(body)


async def _expect_audio(response: UpstreamResponse) -> bytes:
    """Returns the content type of an answer that is audio.

    Raises:
        RhapsodeError: It is an error envelope, or no audio; ForeignError likewise.
        UpstreamError: It breaks off.
    """
    if response.status != HTTPStatus.OK:
        raise read_error(response.status, await read_whole(response, ERROR_BYTES))
    content_type = response.header("content-type") or ""
    if not content_type.lower().startswith("audio/"):
        raise Internal(f"the engine answered 200 with the type {content_type!r}, which is no audio")
    return content_type.encode("latin-1")


def _too_short(count: int) -> str:
    return f"the engine sent {count} bytes; fewer than {FLOOR_BYTES} are no audio"


def _durations(pairs: list[tuple[bytes, bytes]], account: Account) -> list[tuple[bytes, bytes]]:
    durations = [(name, value) for name, value in pairs if name == _DURATION]
    for _, value in durations:
        account.note_duration(value)
    return durations
