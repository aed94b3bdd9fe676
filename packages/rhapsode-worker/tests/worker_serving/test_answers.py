"""What `POST /speak` answers: formats, headers, lengths, and that it is what the engine made."""

import io
import subprocess
import wave
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import anyio
import pytest
from rhapsode_conform.likeness import likeness
from rhapsode_conform.sound import Sound
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import SpeakRequest

from .player import MS_PER_CHARACTER, Player, tone
from .stage import on_stage

pytestmark = pytest.mark.anyio

FORMATS = ["wav", "mp3", "opus", "flac", "pcm"]
TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg", "opus": "audio/opus", "flac": "audio/flac"}
MAGIC = {"wav": [b"RIFF"], "mp3": [b"ID3", b"\xff"], "opus": [b"OggS"], "flac": [b"fLaC"]}
MP3_EXTRA_FRAMES = 529 + 576 + 1152
"""The delays of decoder and encoder, and the filling of the last block."""

TEXT = "A text of some length."
PLAIN = NativeFormat()
STEREO = NativeFormat(sample_rate=22_050, channels=2)


async def decoded(format: str, native: NativeFormat, encoded: bytes) -> bytes:
    """Returns encoded audio as samples again; ffmpeg must say nothing meanwhile."""
    shape = ["-ar", str(native.sample_rate), "-ac", str(native.channels)]
    source = ["-f", "s16le", *shape] if format == "pcm" else []
    done = await anyio.run_process(
        ["ffmpeg", "-v", "error", "-threads", "1", *source, "-i", "pipe:0"]
        + ["-f", "s16le", *shape, "pipe:1"],
        input=encoded,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("variant", "native"), [("plain", PLAIN), ("stereo", STEREO)])
@pytest.mark.contract(
    "8.encoding.all-formats",
    "6.format.listed",
    "6.format.content-type",
    "6.format.heard",
    "6.format.opus",
    "d.formats.types",
    "6.duration.header",
    "6.duration.trailer",
    "6.buffer.content-length",
    "6.stream.chunked",
    "1.transport.chunked",
    "d.stream.headers",
)
async def test_every_format_is_the_engines_audio_and_says_what_it_is(
    format: str, variant: str, native: NativeFormat, stream: bool, encoders: EncoderPool
) -> None:
    async with on_stage(Player(), encoders) as stage:
        answer = await stage.speak(text=TEXT, variant=variant, format=format, stream=stream)
    milliseconds = MS_PER_CHARACTER * len(TEXT)
    assert answer.status == 200
    rate, channels = native.sample_rate, native.channels
    pcm_type = f"audio/L16; rate={rate}; channels={channels}"
    assert answer.headers["content-type"] == TYPES.get(format, pcm_type)
    if format in MAGIC:
        assert any(answer.body.startswith(magic) for magic in MAGIC[format])
    if stream:
        assert answer.headers["transfer-encoding"] == "chunked"
        assert "content-length" not in answer.headers
        assert "x-rhapsode-duration-ms" not in answer.headers
        assert answer.headers["trailer"].lower() == "x-rhapsode-duration-ms"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.trailers == {"x-rhapsode-duration-ms": str(milliseconds)}
    else:
        assert answer.headers["content-length"] == str(len(answer.body))
        assert answer.headers["x-rhapsode-duration-ms"] == str(milliseconds)
        assert answer.trailers == {}
    heard = await decoded(format, native, answer.body)
    # A streamed MP3 cannot say how much of its ends is the codec's own.
    codec_ms = MP3_EXTRA_FRAMES * 1000 // rate if format == "mp3" and stream else 0
    assert -50 <= native.duration_ms(len(heard)) - milliseconds <= 50 + codec_ms
    made = tone(SpeakRequest(TEXT, variant), native)
    if format in {"wav", "flac", "pcm"}:
        assert heard == made
    assert likeness(Sound(made, rate, channels), Sound(heard, rate, channels)) > 0.98


@pytest.mark.contract("d.formats.wav-buffered", "d.defaults.format")
async def test_a_whole_wav_is_what_python_reads_with_nothing_after_it(
    encoders: EncoderPool,
) -> None:
    async with on_stage(Player(), encoders) as stage:
        answer = await stage.speak(text=TEXT)
    pcm = tone(SpeakRequest(TEXT, "plain"))
    with wave.open(io.BytesIO(answer.body)) as reader:
        assert (reader.getframerate(), reader.getnchannels()) == (24_000, 1)
        assert reader.readframes(reader.getnframes()) == pcm
    assert len(answer.body) == 44 + len(pcm)
    assert answer.body.count(b"RIFF") == 1


@pytest.mark.contract("d.formats.wav-streamed")
async def test_a_streamed_wav_says_that_its_length_is_unknown(encoders: EncoderPool) -> None:
    async with on_stage(Player(), encoders) as stage:
        answer = await stage.speak(text=TEXT, stream=True)
    assert answer.body[4:8] == answer.body[40:44] == b"\xff\xff\xff\xff"
    assert answer.body[44:] == tone(SpeakRequest(TEXT, "plain"))


@pytest.mark.parametrize("stream", [False, True])
async def test_pieces_may_end_inside_a_sample_and_half_a_one_at_the_end_is_dropped(
    stream: bool, encoders: EncoderPool
) -> None:
    pcm = tone(SpeakRequest(TEXT, "plain"))

    def ragged(_: SpeakRequest) -> list[bytes]:
        cuts = [pcm[at : at + 333] for at in range(0, len(pcm), 333)]
        return [b"", *cuts, b"", b"x"]

    async with on_stage(Player(lambda req: iter(ragged(req))), encoders) as stage:
        answer = await stage.speak(text=TEXT, format="pcm", stream=stream)
    assert answer.body == pcm


@pytest.mark.parametrize("is_view", [False, True], ids=["bytearray", "memoryview"])
async def test_an_engine_may_fill_the_same_buffer_again(
    is_view: bool, encoders: EncoderPool
) -> None:
    buffer = bytearray(4800)

    def refill(_: SpeakRequest) -> Iterator[Any]:
        for value in (1, 2, 3):
            buffer[:] = bytes([value, 0]) * 2400
            yield memoryview(buffer) if is_view else buffer

    async with on_stage(Player(refill), encoders) as stage:
        answer = await stage.speak(format="pcm")
    assert answer.body == b"".join(bytes([value, 0]) * 2400 for value in (1, 2, 3))


@pytest.mark.contract("d.request-id.answered")
async def test_every_answer_has_an_id_and_one_that_came_is_kept(
    encoders: EncoderPool,
) -> None:
    async with on_stage(Player(), encoders) as stage:
        given = await stage.ask("POST", "/speak", {"text": "Hi."}, x_request_id="abc-1")
        minted = await stage.speak()
    assert given.headers["x-request-id"] == "abc-1"
    assert minted.headers["x-request-id"]


@pytest.mark.parametrize(("format", "count"), [("wav", 20), ("mp3", 6), ("opus", 6)])
@pytest.mark.contract("6.seed.reproduces", "6.stream.chunked")
async def test_many_at_once_each_get_their_own_audio(
    format: str, count: int, encoders: EncoderPool
) -> None:
    asked = [
        {"text": f"Number {n}.", "voice": voice, "seed": n, "format": format, "stream": n % 2 == 0}
        for n, voice in zip(range(count), cycle(["ann", "anna", "bert", "zoe"]), strict=False)
    ]
    solo: list[bytes] = []
    together: dict[int, bytes] = {}
    async with on_stage(Player(), encoders) as stage:
        for fields in asked:
            answer = await stage.speak(**fields)
            assert answer.status == 200
            solo.append(answer.body)

        async def speak(number: int) -> None:
            together[number] = (await stage.speak(**asked[number])).body

        async with anyio.create_task_group() as group:
            for number in range(len(asked)):
                group.start_soon(speak, number)
    assert [together[number] for number in range(len(asked))] == solo
    assert len(set(solo)) == len(solo)
