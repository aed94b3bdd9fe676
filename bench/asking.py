"""One request, timed."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rhapsode_http import Client

from bench.engine import PIECE_BYTES, STAMP_BYTES


@dataclass(frozen=True)
class Answer:
    """What came back, and when; seconds are since the request was sent."""

    first_byte_seconds: float

    total_seconds: float

    size: int
    """Bytes of the body."""

    arrivals_ns: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    """Each piece and the `time.monotonic_ns()` of its arrival, where they were asked for."""


async def ask(client: Client, body: Mapping[str, object], *, keeps_pieces: bool = False) -> Answer:
    """Asks a server to speak and reads all of its answer.

    Raises:
        RuntimeError: The status is not 200.
    """
    headers = [(b"content-type", b"application/json")]
    begun = time.perf_counter()
    response = await client.request("POST", "/speak", headers, json.dumps(body).encode())
    if response.status != 200:
        raise RuntimeError(f"{response.status}: {await response.read()!r}")
    first = 0.0
    size = 0
    arrivals: list[tuple[int, bytes]] = []
    while piece := await response.read():
        first = first or time.perf_counter() - begun
        size += len(piece)
        if keeps_pieces:
            arrivals.append((time.monotonic_ns(), piece))
    return Answer(first, time.perf_counter() - begun, size, arrivals)


def delays_of(arrivals: list[tuple[int, bytes]]) -> Iterator[float]:
    """Yields the age of each stamp when the last of its bytes arrived.

    A proxy may cut the stream anew: stamps are found by counting, not by the pieces they came in.
    """
    audio = bytearray()
    stamp_at = 0
    for arrived_ns, piece in arrivals:
        audio += piece
        while len(audio) >= stamp_at + STAMP_BYTES:
            made_ns = int.from_bytes(audio[stamp_at : stamp_at + STAMP_BYTES], "little")
            yield (arrived_ns - made_ns) / 1e9
            stamp_at += PIECE_BYTES
