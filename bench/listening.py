"""Two hundred listeners of one server, and how late each piece of audio is for them."""

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
from rhapsode_http import Client, UpstreamResponse

from bench.asking import ask, delays_of
from bench.engine import PACED_PIECES, PIECE_BYTES, PIECE_SECONDS
from bench.processes import Running

STREAMS: Final = 200

HEARD_SECONDS: Final = 20
_MS_PER_CHARACTER: Final = 60  # the tone engine's
_WORDS: Final = "word " * (HEARD_SECONDS * 1000 // _MS_PER_CHARACTER // 5)

_LIVE_APART_SECONDS: Final = 0.0053
"""Between the starts of two streams. All that start in one moment have their pieces in one moment
too, ten times a second, and the last of 200 waits for what the others take.
"""

_HEARD_APART_SECONDS: Final = 0.053
"""As that, and long enough for an engine that speaks one text after another to keep up."""


@dataclass
class Heard:
    """What the listeners of one server say."""

    delays: list[float] = field(default_factory=list[float])
    """Seconds that each piece was late."""

    sizes: list[int] = field(default_factory=list[int])
    """Bytes of audio, a stream each."""


async def hear_live(running: Running, extra: Mapping[str, str]) -> Heard:
    """Hears audio that the worker makes in real time; a piece is late from when it was made.

    Raises:
        RuntimeError: One was cut off or is too short.
    """
    body = {"text": "paced", "voice": "paced", "format": "pcm", "stream": True, **extra}

    async def listen(client: Client, heard: Heard) -> None:
        answer = await ask(client, body, keeps_pieces=True)
        heard.sizes.append(answer.size)
        heard.delays.extend(delays_of(answer.arrivals_ns))

    return await _all(running, listen, _LIVE_APART_SECONDS, PACED_PIECES * PIECE_BYTES)


async def hear_at_pace(running: Running, extra: Mapping[str, str]) -> Heard:
    """Hears an engine that is faster than real time, as a player does: a piece when it is due.

    The first piece may take what it takes; each after it is late from when the one before has
    sounded.

    Raises:
        RuntimeError: One was cut off or is too short.
    """
    body = {"text": _WORDS, "format": "pcm", "stream": True, **extra}

    async def listen(client: Client, heard: Heard) -> None:
        headers = [(b"content-type", b"application/json")]
        response = await client.request("POST", "/speak", headers, json.dumps(body).encode())
        if response.status != 200:
            raise RuntimeError(f"{response.status}: {await response.read()!r}")
        held = await _read_until(response, PIECE_BYTES, 0)
        begun = time.monotonic()
        sounded = PIECE_BYTES
        while sounded <= held:
            due = begun + sounded // PIECE_BYTES * PIECE_SECONDS
            await anyio.sleep_until(due)
            held = await _read_until(response, sounded + PIECE_BYTES, held)
            heard.delays.append(time.monotonic() - due)
            sounded += PIECE_BYTES
        heard.sizes.append(held)

    wanted = len(_WORDS) * _MS_PER_CHARACTER * PIECE_BYTES // round(PIECE_SECONDS * 1000)
    return await _all(running, listen, _HEARD_APART_SECONDS, wanted)


async def _read_until(response: UpstreamResponse, wanted_bytes: int, held: int) -> int:
    """Reads on until so much has come, or the end, and returns how much has."""
    while held < wanted_bytes and (piece := await response.read()):
        held += len(piece)
    return held


async def _all(
    running: Running,
    listen: Callable[[Client, Heard], Awaitable[None]],
    apart_seconds: float,
    wanted_bytes: int,
) -> Heard:
    """Lets all of them listen, each to a stream of its own, and holds them to its length."""
    heard = Heard()

    async def begin(client: Client, number: int) -> None:
        await anyio.sleep(number * apart_seconds)
        await listen(client, heard)

    async with (
        Client(running.address, max_idle=STREAMS) as client,
        anyio.create_task_group() as tasks,
    ):
        for number in range(STREAMS):
            tasks.start_soon(begin, client, number)
    cut = [size for size in heard.sizes if size != wanted_bytes]
    if cut or len(heard.sizes) != STREAMS:
        raise RuntimeError(f"{len(heard.sizes)} streams ended; these were cut off: {cut}")
    return heard
