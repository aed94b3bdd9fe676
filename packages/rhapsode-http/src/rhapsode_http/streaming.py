"""Bodies sent as they are made, as ASGI messages."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final

from starlette.types import Send

from rhapsode_http.ahead import RUNS_AHEAD

Headers = Iterable[tuple[bytes, bytes]]

UNBUFFERED: Final = ((b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))
"""Headers of a stream that nobody on its way should hold back or keep."""


async def send_stream(
    send: Send,
    headers: Headers,
    pieces: AsyncIterator[bytes],
    trailers: Callable[[], Headers] | None = None,
    *,
    status: int = 200,
    runs_ahead: bool = False,
) -> None:
    """Sends a chunked answer piece by piece; an empty piece is skipped.

    An error of `pieces` passes through and leaves the answer unfinished: raise `StreamAborted`
    for the server to cut the connection, so that the client sees a truncated body (contract § 6).

    Args:
        send: ASGI's.
        headers: Without a length; a `Trailer` header among them where there are trailers.
        pieces: The body.
        trailers: Asked once the body is whole.
        status: Of the answer.
        runs_ahead: Whether it is made as fast as it can be, and kept for a listener who is slower,
            as far as `Limits.ahead_bytes` allow.
    """
    start: list[tuple[bytes, bytes]] = list(headers)
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": start,
            "trailers": trailers is not None,
            RUNS_AHEAD: runs_ahead,
        }
    )
    async for piece in pieces:
        if piece:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
    if trailers is not None:
        await send({"type": "http.response.trailers", "headers": list(trailers())})


async def send_whole(send: Send, headers: Headers, body: bytes, *, status: int = 200) -> None:
    """Sends an answer that is complete, with its length, at its listener's pace."""
    start = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body, "more_body": False})
