"""What the tests of encoding share: audio, an encoder run to its end, and ffmpeg as the judge."""

import math
import subprocess
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
import pytest
from rhapsode_worker.encoding.encoder import Encoder
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.native_format import NativeFormat

_SINE_HZ = 440
_AMPLITUDE = 9000


@pytest.fixture
async def pool() -> AsyncIterator[EncoderPool]:
    """A pool with its first child warm."""
    with anyio.fail_after(60):
        async with EncoderPool() as pool:
            yield pool


@pytest.fixture
def sine() -> Callable[[NativeFormat, float], bytes]:
    """Gives a constant tone, every channel the same."""

    def make(native: NativeFormat, seconds: float) -> bytes:
        samples = array("h")
        for frame in range(int(native.sample_rate * seconds)):
            value = math.sin(2 * math.pi * _SINE_HZ * frame / native.sample_rate)
            samples.extend([round(_AMPLITUDE * value)] * native.channels)
        return samples.tobytes()

    return make


@pytest.fixture
def run_encoder() -> Callable[[Encoder, bytes, int], Awaitable[list[bytes]]]:
    """Writes PCM to an encoder in pieces of a size, and collects what comes out meanwhile."""

    async def run(encoder: Encoder, pcm: bytes, piece_bytes: int) -> list[bytes]:
        async def write() -> None:
            for start in range(0, len(pcm), piece_bytes):
                await encoder.write(pcm[start : start + piece_bytes])
            await encoder.finish()

        encoded: list[bytes] = []
        async with anyio.create_task_group() as group:
            group.start_soon(write)
            encoded.extend([piece async for piece in encoder])
        return encoded

    return run


@pytest.fixture
def decode() -> Callable[[str, NativeFormat, bytes], Awaitable[bytes]]:
    """Gives encoded audio back as PCM of the native format; ffmpeg must say nothing meanwhile."""

    async def run(format: str, native: NativeFormat, encoded: bytes) -> bytes:
        rate_and_channels = ["-ar", str(native.sample_rate), "-ac", str(native.channels)]
        source = ["-f", "s16le", *rate_and_channels] if format == "pcm" else []
        result = await anyio.run_process(
            ["ffmpeg", "-v", "error", "-threads", "1", *source, "-i", "pipe:0"]
            + ["-f", "s16le", *rate_and_channels, "pipe:1"],
            input=encoded,
            stderr=subprocess.PIPE,
            check=False,
        )
        assert result.stderr == b""
        assert result.returncode == 0
        return result.stdout

    return run
