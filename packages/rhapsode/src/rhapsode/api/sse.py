"""Server-sent events: the frames of a job's feed, and comments that keep the connection open."""

from collections.abc import AsyncGenerator
from typing import Final

import anyio
from rhapsode_http import UNBUFFERED

from rhapsode.installs.feed import Batch, Event, Reader

EVENT_STREAM_HEADERS: Final = ((b"content-type", b"text/event-stream; charset=utf-8"), *UNBUFFERED)

HEARTBEAT_SECONDS: Final = 15.0

HEARTBEAT: Final = b":\n\n"

RESYNC: Final = b"event: resync\ndata:\n\n"
"""Something was missed. It has no id, so that the place a client remembers stays its own."""

_PIECE_BYTES: Final = 64 * 1024


async def event_stream(
    reader: Reader, heartbeat_seconds: float = HEARTBEAT_SECONDS
) -> AsyncGenerator[bytes]:
    """Yields the frames of a feed as they come. Its client closes it; else it ends with the feed.

    Args:
        reader: At the place where the client goes on.
        heartbeat_seconds: Between two comments, whatever comes between them.
    """
    beat_at = anyio.current_time() + heartbeat_seconds
    while not reader.is_over:
        for piece in _pieces(reader.take()):
            yield piece
        with anyio.CancelScope(deadline=beat_at):
            await reader.wait()
        if anyio.current_time() >= beat_at:
            yield HEARTBEAT
            beat_at = anyio.current_time() + heartbeat_seconds


def _pieces(batch: Batch) -> list[bytes]:
    pieces = [RESYNC] if batch.has_gap else []
    held = bytearray()
    for event in batch.events:
        held += frame(event)
        if len(held) >= _PIECE_BYTES:
            pieces.append(bytes(held))
            held.clear()
    return [*pieces, bytes(held)] if held else pieces


def frame(event: Event) -> bytes:
    """Returns an event as a client's parser reads it. JSON has no line breaks of its own."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.id, event.kind.encode(), event.data)
