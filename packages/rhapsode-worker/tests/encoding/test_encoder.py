"""What comes out of an encoder, with ffmpeg as the judge."""

import io
import subprocess
import sys
import wave
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from rhapsode_contract import FORMATS
from rhapsode_worker.encoding.encoder import Encoder
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.native_format import NativeFormat

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

Sine = Callable[[NativeFormat, float], bytes]
RunEncoder = Callable[[Encoder, bytes, int], Awaitable[list[bytes]]]
Decode = Callable[[str, NativeFormat, bytes], Awaitable[bytes]]

SLOW = pytest.mark.slow
MAGIC = {"wav": b"RIFF", "mp3": b"\xff", "opus": b"OggS", "flac": b"fLaC", "pcm": b""}
TONE_SECONDS = 0.7
MAX_ERROR_SECONDS = 0.05
MP3_DELAY_SAMPLES = 576 + 529 + 1152
"""What a stream without an Info frame cannot tell: encoder, decoder, and the last frame's rest."""


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """As everywhere, for a pool that lives as long as the module."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[EncoderPool]:
    """One for all: a child takes longer to start than a test to run."""
    with anyio.fail_after(600):
        async with EncoderPool() as pool:
            yield pool


@pytest.mark.contract("8.encoding.all-formats")
@pytest.mark.parametrize(
    "rates_hz", [(22_050, 24_000), pytest.param((8_000, 16_000, 44_100, 48_000), marks=SLOW)]
)
@pytest.mark.parametrize("buffered", [False, True], ids=["streamed", "buffered"])
@pytest.mark.parametrize("format", FORMATS)
async def test_every_format_decodes_to_the_same_length(
    format: str,
    rates_hz: tuple[int, ...],
    buffered: bool,
    pool: EncoderPool,
    sine: Sine,
    run_encoder: RunEncoder,
    decode: Decode,
) -> None:
    for native in (NativeFormat(sample_rate=hz, channels=n) for hz in rates_hz for n in (1, 2)):
        pcm = sine(native, TONE_SECONDS)
        async with pool.encoder(format, native, buffered=buffered) as encoder:
            encoded = b"".join(await run_encoder(encoder, pcm, 9_999))
        assert encoded.startswith(MAGIC[format])
        decoded = await decode(format, native, encoded)
        allowed_seconds = MAX_ERROR_SECONDS
        if format == "mp3" and not buffered:
            allowed_seconds += MP3_DELAY_SAMPLES / native.sample_rate
        error_seconds = (len(decoded) - len(pcm)) / native.bytes_per_second
        assert -MAX_ERROR_SECONDS <= error_seconds <= allowed_seconds


@pytest.mark.parametrize("piece_bytes", [1, 960, 1_000_000])
@pytest.mark.parametrize("format", FORMATS)
async def test_how_the_pcm_is_cut_makes_no_difference(
    format: str,
    piece_bytes: int,
    pool: EncoderPool,
    sine: Sine,
    run_encoder: RunEncoder,
) -> None:
    # Short for single bytes, which only the joints matter for; above a message for the largest.
    native = NativeFormat(sample_rate=22_050, channels=2)
    pcm = sine(native, 0.1 if piece_bytes < 10 else 1.0)
    outcomes: list[bytes] = []
    for size in (piece_bytes, len(pcm)):
        async with pool.encoder(format, native) as encoder:
            outcomes.append(b"".join(await run_encoder(encoder, pcm, size)))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("buffered", [False, True], ids=["streamed", "buffered"])
@pytest.mark.parametrize("format", FORMATS)
async def test_the_same_pcm_is_the_same_bytes_from_whichever_child(
    format: str, buffered: bool, pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    native = NativeFormat(sample_rate=22_050)
    pcm = sine(native, 0.5)
    async with (
        pool.encoder(format, native, buffered=buffered) as one,
        pool.encoder(format, native, buffered=buffered) as other,  # of another child
    ):
        bodies = [b"".join(await run_encoder(each, pcm, 9_999)) for each in (one, other)]
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("format", FORMATS)
async def test_a_constant_sine_has_no_step_at_the_joints(
    format: str, pool: EncoderPool, sine: Sine, run_encoder: RunEncoder, decode: Decode
) -> None:
    native = NativeFormat(sample_rate=22_050)
    pcm = sine(native, 1.0)
    async with pool.encoder(format, native) as encoder:
        encoded = b"".join(await run_encoder(encoder, pcm, 1_111))
    decoded = array("h", await decode(format, native, encoded))
    body = decoded[4_000 : 4_000 + len(pcm) // 4]  # past the delay and the attack of the codec
    steps = [abs(after - before) for before, after in zip(body, body[1:], strict=False)]
    own = array("h", pcm)
    largest_own = max(abs(after - before) for before, after in zip(own, own[1:], strict=False))
    assert max(steps) <= 1.1 * largest_own


@pytest.mark.parametrize("format", ["wav", "flac", "pcm"])
@pytest.mark.parametrize("buffered", [False, True], ids=["streamed", "buffered"])
async def test_lossless_formats_lose_nothing(
    format: str,
    buffered: bool,
    pool: EncoderPool,
    sine: Sine,
    run_encoder: RunEncoder,
    decode: Decode,
) -> None:
    native = NativeFormat(channels=2)
    pcm = sine(native, 0.3)
    async with pool.encoder(format, native, buffered=buffered) as encoder:
        encoded = b"".join(await run_encoder(encoder, pcm, 5_001))
    assert await decode(format, native, encoded) == pcm


@pytest.mark.parametrize("format", FORMATS)
async def test_the_first_piece_holds_audio(
    format: str, pool: EncoderPool, sine: Sine, decode: Decode
) -> None:
    native = NativeFormat()
    pcm = sine(native, 0.15)
    with anyio.fail_after(10):
        async with pool.encoder(format, native) as encoder:
            # One frame, for which a codec writes headers but no audio, then enough for some.
            await encoder.write(pcm[:2])
            await encoder.write(pcm[2:])
            assert len(await decode(format, native, await anext(encoder))) > 0


@pytest.mark.parametrize("format", ["mp3", "opus", "flac"])
async def test_headers_wait_for_audio(format: str, pool: EncoderPool) -> None:
    with anyio.fail_after(10):
        async with pool.encoder(format, NativeFormat()) as encoder:
            await encoder.write(bytes(2))
            with anyio.move_on_after(0.2):  # a piece within it is the failure
                pytest.fail(f"{await anext(encoder)!r} is no audio")


@pytest.mark.parametrize("buffered", [False, True], ids=["streamed", "buffered"])
@pytest.mark.parametrize("format", FORMATS)
async def test_without_pcm_there_is_nothing(
    format: str, buffered: bool, pool: EncoderPool, run_encoder: RunEncoder
) -> None:
    for pcm in (b"", b"\1"):
        async with pool.encoder(format, NativeFormat(), buffered=buffered) as encoder:
            assert await run_encoder(encoder, pcm, 10) == []


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("buffered", [False, True], ids=["streamed", "buffered"])
async def test_a_single_sample_is_a_whole_response(
    format: str, buffered: bool, pool: EncoderPool, run_encoder: RunEncoder, decode: Decode
) -> None:
    async with pool.encoder(format, NativeFormat(), buffered=buffered) as encoder:
        encoded = b"".join(await run_encoder(encoder, b"\1\2\3", 1))
    assert encoded.startswith(MAGIC[format])
    await decode(format, NativeFormat(), encoded)


@pytest.mark.contract("d.formats.wav-streamed")
async def test_a_streamed_wav_has_one_header_and_only_samples_after_it(
    pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    pcm = sine(NativeFormat(), 0.2)
    async with pool.encoder("wav", NativeFormat()) as encoder:
        encoded = b"".join(await run_encoder(encoder, pcm + b"\1", 1_001))
    assert encoded[4:8] == encoded[40:44] == b"\xff\xff\xff\xff"
    assert encoded[44:] == pcm


@pytest.mark.contract("d.formats.wav-buffered")
async def test_a_buffered_wav_has_exact_sizes(
    pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    pcm = sine(NativeFormat(), 0.2)
    async with pool.encoder("wav", NativeFormat(), buffered=True) as encoder:
        encoded = b"".join(await run_encoder(encoder, pcm + b"\1", 1_001))
    with wave.open(io.BytesIO(encoded)) as file:
        assert file.readframes(1_000_000) == pcm
    assert len(encoded) == 44 + len(pcm)


async def probed_seconds(file: Path) -> float:
    """Returns the length that ffprobe reads in the headers of `file`."""
    command = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0"]
    result = await anyio.run_process([*command, str(file)], stderr=subprocess.STDOUT)
    return float(result.stdout)


@pytest.mark.parametrize("sample_rate", [8_000, 22_050, 24_000, 48_000])
@pytest.mark.parametrize(
    ("format", "buffered"), [("flac", True), ("mp3", True), ("mp3", False), ("opus", False)]
)
async def test_a_player_is_told_the_right_length(
    format: str,
    buffered: bool,
    sample_rate: int,
    pool: EncoderPool,
    sine: Sine,
    run_encoder: RunEncoder,
    tmp_path: Path,
) -> None:
    native = NativeFormat(sample_rate=sample_rate)
    async with pool.encoder(format, native, buffered=buffered) as encoder:
        encoded = b"".join(await run_encoder(encoder, sine(native, 2.0), 10_000))
    file = tmp_path / f"tone.{format}"
    file.write_bytes(encoded)
    codec_delay_seconds = MP3_DELAY_SAMPLES / sample_rate if format == "mp3" else 0.0
    assert -0.01 <= await probed_seconds(file) - 2.0 <= 0.01 + codec_delay_seconds


async def test_the_worker_process_loads_no_codec(
    pool: EncoderPool, sine: Sine, run_encoder: RunEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    codecs = {"soundfile", "_soundfile", "lameenc", "soxr"}
    for name in codecs:  # another test may have them
        monkeypatch.delitem(sys.modules, name, raising=False)
    for format in FORMATS:
        async with pool.encoder(format, NativeFormat(sample_rate=22_050)) as encoder:
            assert await run_encoder(encoder, sine(NativeFormat(), 0.1), 1_000)
    assert not codecs & set(sys.modules)
