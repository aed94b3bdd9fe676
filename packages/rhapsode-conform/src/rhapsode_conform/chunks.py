"""The chunks of a chunked answer, which a client as it should be puts together and never shows."""

from typing import Final

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from rhapsode_http import (
    Address,
    UnixAddress,
    UpstreamProtocolError,
    UpstreamTooLong,
    UpstreamTruncated,
)

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one answer: over a quarter of an hour of the richest audio that a worker makes, and nothing
that it is asked for here is longer than three minutes."""

_LINE_BYTES: Final = 64 * 1024


async def sizes_of_chunks(address: Address, request: bytes) -> list[int]:
    """Sends a request on a connection of its own, and returns how many bytes each chunk holds.

    Args:
        address: Where the worker listens.
        request: Head and body, as they go over the wire.

    Raises:
        OSError: No connection can be made.
        UpstreamTruncated: The answer ended before it was whole.
        UpstreamProtocolError: It is no chunked answer.
        UpstreamTooLong: It goes on far beyond what anybody asked for.
    """
    if isinstance(address, UnixAddress):
        stream = await anyio.connect_unix(str(address.path))
    else:
        stream = await anyio.connect_tcp(address.host, address.port)
    async with stream:
        await stream.send(request)
        try:
            return await _read(BufferedByteReceiveStream(stream))
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError) as error:
            raise UpstreamTruncated("the answer ended before it was whole") from error
        except (anyio.DelimiterNotFound, ValueError) as error:
            raise UpstreamProtocolError(f"no chunked answer: {error}") from error


async def _read(received: BufferedByteReceiveStream) -> list[int]:
    head = await received.receive_until(b"\r\n\r\n", _LINE_BYTES)
    if b"transfer-encoding: chunked" not in head.lower():
        raise ValueError(head.partition(b"\r\n")[0].decode(errors="replace"))
    sizes: list[int] = []
    whole = 0
    while True:
        line = await received.receive_until(b"\r\n", _LINE_BYTES)
        size = int(line.partition(b";")[0], 16)
        if size == 0:
            return sizes
        whole += size
        if whole > MOST_BYTES:
            raise UpstreamTooLong("the answer goes on beyond 64 MiB")
        await received.receive_exactly(size + 2)
        sizes.append(size)
