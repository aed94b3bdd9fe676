"""What a client hears: formats, cues, deliveries, languages, from a real engine's process."""

import io
import json
import subprocess
import sys
import wave
from collections.abc import Generator
from typing import Any

import httpx
import pytest

from .core_process import PATIENCE_SECONDS, CoreProcess, core, tone

FORMATS = {"wav": b"RIFF", "mp3": b"\xff", "opus": b"OggS", "flac": b"fLaC", "pcm": b""}
CODEC_SECONDS = {"mp3": 0.12}
"""What a streamed format may add at its ends, beside the fifty milliseconds of any."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[CoreProcess]:
    with core(tmp_path_factory.mktemp("core"), tone()) as running:
        yield running


def speak(running: CoreProcess, **fields: Any) -> httpx.Response:
    body = {"engine": "tone", "text": "Hello there."} | fields
    # Unverified, since there is no TLS: reading the authorities' certificates takes longer.
    url = f"{running.url}/speak"
    answer = httpx.post(url, json=body, timeout=PATIENCE_SECONDS, verify=False)
    assert answer.status_code == 200, answer.text
    return answer


def samples(running: CoreProcess, **fields: Any) -> bytes:
    return speak(running, format="pcm", seed=1, **fields).content


def decoded_seconds(audio: bytes, *, raw: bool) -> float:
    """Returns how long ffmpeg finds the audio; it must find nothing wrong with it."""
    how = ["-f", "s16le", "-ar", "24000", "-ac", "1"] if raw else []
    done = subprocess.run(
        ["ffmpeg", "-v", "error", *how, "-i", "pipe:0", "-f", "s16le", "-ar", "24000", "pipe:1"],
        input=audio,
        capture_output=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.stderr == b""
    return len(done.stdout) / 48_000


@pytest.mark.contract("6.format.listed", "6.format.content-type", "6.format.opus")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_decodes_to_what_was_said(
    running: CoreProcess, name: str, stream: bool
) -> None:
    answer = speak(running, format=name, stream=stream, text="One, two, three.")
    seconds = len(samples(running, text="One, two, three.")) / 48_000
    assert answer.content.startswith(FORMATS[name])
    assert answer.headers["content-type"].startswith("audio/")
    allowed = 0.05 + (CODEC_SECONDS.get(name, 0.0) if stream else 0.0)
    assert abs(decoded_seconds(answer.content, raw=name == "pcm") - seconds) <= allowed
    assert ("content-length" in answer.headers) is not stream


@pytest.mark.contract("d.formats.wav-buffered", "6.duration.header")
def test_a_buffered_wav_has_exact_sizes_and_its_duration_ahead(running: CoreProcess) -> None:
    answer = speak(running)
    with wave.open(io.BytesIO(answer.content)) as audio:
        frames = audio.getnframes()
        assert len(answer.content) == 44 + 2 * frames
        assert answer.headers["x-rhapsode-duration-ms"] == str(round(frames / 24))


@pytest.mark.contract("5.cues.in-text", "5.cues.kept")
def test_a_claimed_cue_is_heard_where_it_stands(running: CoreProcess) -> None:
    plain = samples(running, variant="dialled", text="one two")
    first = samples(running, variant="dialled", text="one [laugh] two")
    last = samples(running, variant="dialled", text="one two [laugh]")
    assert len({plain, first, last}) == 3
    same = next(n for n in range(0, len(plain), 2) if plain[n : n + 2] != first[n : n + 2])
    assert same >= len("one") * 60 * 48  # up to the cue they are one
    assert last[: len(plain) - 4800] == plain[: len(plain) - 4800]


@pytest.mark.contract("5.cues.stripped", "5.cues.claimed-subset", "5.cues.gap")
def test_a_cue_that_is_not_claimed_leaves_no_trace(running: CoreProcess) -> None:
    # `plain` is named, because one that other tests asked for may be resident.
    stripped = samples(running, variant="plain", text="one [laugh] two")
    assert stripped == samples(running, variant="plain", text="one two")


@pytest.mark.contract("5.deliveries.ordinary", "6.delivery.dropped")
def test_no_delivery_is_the_ordinary_reading_and_an_unclaimed_one_is_the_same(
    running: CoreProcess,
) -> None:
    ordinary = samples(running, variant="polyglot")
    assert samples(running, variant="polyglot", delivery="hushed") != ordinary
    assert samples(running, variant="polyglot", delivery="frantic") == ordinary


@pytest.mark.contract("6.language.not-guessed", "6.language.default", "6.language.chosen")
def test_the_language_is_the_one_asked_for_whatever_the_text(running: CoreProcess) -> None:
    french = "Où est la bibliothèque ?"
    unsaid = samples(running, variant="polyglot", text=french)
    assert unsaid == samples(running, variant="polyglot", text=french, language="en")
    assert unsaid != samples(running, variant="polyglot", text=french, language="fr")


def test_a_speed_dial_halves_the_duration_and_is_refused_where_there_is_none(
    running: CoreProcess,
) -> None:
    usual = len(samples(running, variant="dialled"))
    fast = len(samples(running, variant="dialled", params={"speed": 2.0}))
    assert abs(fast / usual - 0.5) < 0.05
    body = {"engine": "tone", "text": "Hi.", "variant": "plain", "params": {"speed": 2.0}}
    answer = httpx.post(f"{running.url}/speak", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")


@pytest.mark.contract("4.variants.loadable")
def test_every_variant_that_is_listed_speaks(running: CoreProcess) -> None:
    for variant in running.get("/engines/tone/capabilities")["variants"]:
        assert samples(running, variant=variant)


@pytest.mark.contract("1.routes.engines", "1.routes.server", "9.contract.everywhere")
def test_the_server_answers_for_its_engines_at_one_contract(running: CoreProcess) -> None:
    (engine,) = running.get("/engines")
    assert (engine["id"], engine["process"]) == ("tone", "up")
    assert running.get("/health")["contract"] == 1
    assert running.get("/engines/tone/capabilities")["contract"] == 1
    assert len(running.get("/engines/tone/voices")) == 5


@pytest.mark.contract("1.protocol.shared", "1.protocol.by-hand")
def test_a_worker_alone_is_asked_the_same_and_answers_the_same(running: CoreProcess) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-m", "rhapsode_engine_tone"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert worker.stdout is not None
        with worker.stdout as stdout:
            listen: str = json.loads(stdout.readline())["listen"]
        url = listen.replace("tcp:", "http://")
        body = {"text": "Hello there.", "format": "pcm", "seed": 1}
        alone = httpx.post(f"{url}/speak", json=body, timeout=PATIENCE_SECONDS)
        assert alone.content == samples(running, variant="plain")
        ours = running.get("/engines/tone/capabilities")
        theirs = httpx.get(f"{url}/capabilities").json()
        assert ours.keys() - {"current"} == theirs.keys() - {"current"}
        assert ours["variants"] == theirs["variants"]
    finally:
        worker.terminate()
        worker.wait(PATIENCE_SECONDS)


@pytest.mark.contract("1.server.no-engine-code")
def test_the_server_loads_no_engine_and_no_audio_library() -> None:
    code = """
import sys
import rhapsode.app, rhapsode.cli, rhapsode.cli.serve
foreign = {"numpy", "torch", "soundfile", "_soundfile", "lameenc", "soxr", "onnxruntime",
           "rhapsode_worker", "rhapsode_engine_tone", "rhapsode_engine_hibari"}
print(sorted(foreign & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
