"""A running server and one request to it, timed."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
from rhapsode_http import Client, UpstreamError

from bench.library import BYTES_A_SAMPLE
from bench.processes import Running
from bench.rivals.roster import Way

RATE_HZ: Final = 24_000
_LONGEST_SECONDS: Final = 180


@dataclass(frozen=True)
class Target:
    """A server that runs, ours or another."""

    name: str

    running: Running

    ways: Mapping[str, Way]

    health: str = "/health"

    @property
    def first_way(self) -> str:
        """Streamed, where it can."""
        return next(iter(self.ways))


@dataclass
class Spoken:
    """What came back; seconds are since the request was sent."""

    failure: str = ""
    """Why it is no answer; empty of one."""

    samples: bytearray = field(default_factory=bytearray)

    arrivals: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    """Of each piece with sound in it: when it came, and how many bytes."""

    total_seconds: float = 0.0

    @property
    def first_seconds(self) -> float:
        """When the first sound came."""
        return self.arrivals[0][0]

    @property
    def audio_seconds(self) -> float:
        """How long the sound is."""
        return len(self.samples) / BYTES_A_SAMPLE / RATE_HZ

    @property
    def stall_seconds(self) -> float:
        """How long a player that begins with the first sound stands still."""
        begun, stalled, played = self.first_seconds, 0.0, 0.0
        for arrived, size in self.arrivals:
            stalled += max(0.0, arrived - (begun + played + stalled))
            played += size / BYTES_A_SAMPLE / RATE_HZ
        return stalled


async def speak(client: Client, way: Way, text: str, *, is_left_at_once: bool = False) -> Spoken:
    """Asks a server to speak, and reads all of its answer or only its first sound.

    Cancel it to leave a server that has not answered yet.
    """
    headers = [(b"content-type", b"application/json")]
    spoken = Spoken()
    begun = time.perf_counter()
    try:
        with anyio.fail_after(_LONGEST_SECONDS):
            body = json.dumps(way.body(text)).encode()
            response = await client.request("POST", way.path, headers, body)
            async with response:
                if response.status != 200:
                    spoken.failure = f"{response.status}: {(await response.read())[:200]!r}"
                    return spoken
                left = way.header_bytes
                while piece := await response.read():
                    sound = piece[left:]
                    left -= min(left, len(piece))
                    if sound:
                        spoken.arrivals.append((time.perf_counter() - begun, len(sound)))
                        spoken.samples += sound
                        if is_left_at_once:
                            break
    except (UpstreamError, TimeoutError) as error:
        spoken.failure = repr(error)
    spoken.total_seconds = time.perf_counter() - begun
    if not spoken.arrivals:
        spoken.failure = spoken.failure or "no sound"
    return spoken
