"""The chunks of an answer are seen as they were sent."""

from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from rhapsode_conform.chunks import sizes_of_chunks
from rhapsode_http import (
    TcpAddress,
    UnixAddress,
    UpstreamProtocolError,
    UpstreamTooLong,
    UpstreamTruncated,
    beside,
)

pytestmark = pytest.mark.anyio

REQUEST = b"POST /speak HTTP/1.1\r\n\r\n"
HEAD = b"HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKS = b"5;x=1\r\nab\r\nc\r\n10\r\n" + bytes(16) + b"\r\n"
"""The first holds what a line ends with."""
END = b"0\r\nX-Trailer: 1\r\n\r\n"


class Peer:
    """Answers whatever is asked, a few bytes at a time."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer

    async def tell(self, stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            for at in range(0, len(self._answer), 7):
                await stream.send(self._answer[at : at + 7])


async def sizes_in(answer: bytes, folder: Path) -> list[int]:
    address = UnixAddress(folder / "a.sock")
    with anyio.fail_after(5):
        listener = await anyio.create_unix_listener(address.path)
        async with listener, beside(lambda: listener.serve(Peer(answer).tell)):
            return await sizes_of_chunks(address, REQUEST)


async def test_each_chunk_counts_however_its_bytes_come(short_path: Path) -> None:
    assert await sizes_in(HEAD + CHUNKS + END, short_path) == [5, 16]


@pytest.mark.parametrize("size", [b"5000000", b"ffffffffffff"])
async def test_what_no_answer_is_as_long_as_is_not_waited_for(
    size: bytes, short_path: Path
) -> None:
    with pytest.raises(UpstreamTooLong, match="64 MiB"):
        await sizes_in(HEAD + CHUNKS + size + b"\r\n", short_path)


async def test_so_it_does_on_tcp() -> None:
    with anyio.fail_after(5):
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        port = listener.extra(SocketAttribute.local_port)
        async with listener, beside(lambda: listener.serve(Peer(HEAD + CHUNKS + END).tell)):
            assert await sizes_of_chunks(TcpAddress("127.0.0.1", port), REQUEST) == [5, 16]


@pytest.mark.parametrize("part", [HEAD[:-9], HEAD, HEAD + CHUNKS, HEAD + CHUNKS[:-5]])
async def test_an_answer_that_ends_early_is_not_whole(part: bytes, short_path: Path) -> None:
    with pytest.raises(UpstreamTruncated):
        await sizes_in(part, short_path)


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 200 -\r\nContent-Length: 2\r\n\r\nok", HEAD + b"five\r\nabcde\r\n"],
    ids=["with its length", "a size that is none"],
)
async def test_what_is_not_chunked_is_said_to_be_unreadable(
    answer: bytes, short_path: Path
) -> None:
    with pytest.raises(UpstreamProtocolError):
        await sizes_in(answer, short_path)
