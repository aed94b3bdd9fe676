"""Every way in which `POST /speak` says no, through a real server and a real engine."""

import http.client
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from .core_process import PATIENCE_SECONDS, CoreProcess, core, process_of, tone

pytestmark = pytest.mark.slow

UNSPEAKABLE = ["", "   ", "\n\t", "\u200b\u200d", "🙂🎉", "...", "?!", "[laugh]", "。、"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[CoreProcess]:
    with core(tmp_path_factory.mktemp("core"), tone()) as running:
        yield running


def speak(running: CoreProcess, **asked: Any) -> httpx.Response:
    body = {"engine": "tone", "text": "Hello there."} | asked
    # Unverified, since there is no TLS: reading the authorities' certificates takes longer.
    url = f"{running.url}/speak"
    return httpx.post(url, json=body, timeout=PATIENCE_SECONDS, verify=False)


def refused(answer: httpx.Response) -> tuple[int, str, bool]:
    """Returns status, code and `retryable`; the envelope holds nothing else."""
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    assert set(answer.json()) == {"error"}
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "retryable"}
    assert ("retry-after" in answer.headers) == error["retryable"]
    return answer.status_code, error["code"], error["retryable"]


@pytest.mark.contract("d.codes.unspeakable", "6.errors.envelope", "6.errors.retryable")
@pytest.mark.parametrize("text", UNSPEAKABLE)
def test_text_with_nothing_to_say_is_bad_naming_the_field(running: CoreProcess, text: str) -> None:
    answer = speak(running, text=text)
    assert refused(answer) == (400, "bad_request", False)
    assert answer.json()["error"]["message"].startswith("text: ")


@pytest.mark.contract("d.codes.too-long", "d.text.default-limit")
def test_one_character_too_many_is_bad_and_one_fewer_is_spoken(running: CoreProcess) -> None:
    assert speak(running, variant="brief", text="x" * 40).status_code == 200
    assert refused(speak(running, variant="brief", text="x" * 41)) == (400, "bad_request", False)
    answer = speak(running, variant="plain", text="x" * 4097)
    assert refused(answer) == (400, "bad_request", False)
    assert "4097" in answer.json()["error"]["message"]
    assert "4096" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("asked", "says", "field"),
    [
        ({"engine": "nobody"}, (404, "unknown_engine", False), "engine"),
        ({"voice": "narrator"}, (404, "unknown_voice", False), "voice"),
        ({"voice": "../../etc/passwd"}, (400, "bad_request", False), "voice"),
        ({"voice": "v" * 300}, (400, "bad_request", False), "voice"),
        ({"variant": "turbo"}, (422, "unsupported", False), "variant"),
        ({"format": "aac"}, (422, "unsupported", False), "format"),
        ({"variant": "polyglot", "language": "xx"}, (422, "unsupported", False), "language"),
        ({"variant": "plain", "params": {"pitch": 1}}, (400, "bad_request", False), "pitch"),
        ({"variant": "dialled", "params": {"pitch": 99}}, (400, "bad_request", False), "pitch"),
        ({"delivery": "calm"}, (400, "bad_request", False), "delivery"),
        ({"seed": True}, (400, "bad_request", False), "seed"),
        ({"sede": 1}, (400, "bad_request", False), "sede"),
        ({"text": None}, (400, "bad_request", False), "text"),
    ],
)
@pytest.mark.contract(
    "6.errors.unknown-engine",
    "6.errors.unknown-voice",
    "6.errors.unsupported",
    "6.errors.bad-request",
    "d.errors.message",
)
def test_what_cannot_be_spoken_is_refused_with_its_code_naming_the_field(
    running: CoreProcess, asked: dict[str, Any], says: tuple[int, str, bool], field: str
) -> None:
    for stream in (False, True):
        answer = speak(running, stream=stream, **asked)
        assert refused(answer) == says
        assert field in answer.json()["error"]["message"]


@pytest.mark.contract("d.errors.near-voices", "7.unknown.no-substitute")
def test_a_voice_that_is_nearly_right_is_told_which_there_are(running: CoreProcess) -> None:
    answer = speak(running, voice="a44")
    assert refused(answer) == (404, "unknown_voice", False)
    assert "a4" in answer.json()["error"]["message"].split("there are")[1]


@pytest.mark.parametrize(
    "text",
    [
        "nul \x00 inside",
        "right \u202eto left",
        "combining e" + "\u0301" * 200,
        "\ufeffbyte order mark",
        "a\U0010ffff",
    ],
)
def test_odd_text_gets_a_clear_answer_and_the_worker_lives(running: CoreProcess, text: str) -> None:
    pid = process_of(running)
    answer = speak(running, text=text)
    assert answer.status_code in {200, 400}
    assert speak(running).status_code == 200
    assert process_of(running) == pid
    assert running.get("/engines")[0]["restarts"] == 0


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b'{"engine": "tone", "text": "\\ud800"}', "text: "),
        (b'{"engine": "tone", "text": "\xff"}', "text: "),
        (b"\x00", "the body is not JSON: "),
    ],
)
def test_a_body_that_is_no_unicode_is_bad_naming_the_field(
    running: CoreProcess, body: bytes, place: str
) -> None:
    headers = {"content-type": "application/json"}
    answer = httpx.post(f"{running.url}/speak", content=body, headers=headers)
    assert refused(answer) == (400, "bad_request", False)
    assert answer.json()["error"]["message"].startswith(place)


@pytest.mark.contract("d.codes.delivery-word", "6.delivery.dropped")
def test_a_delivery_is_dropped_where_it_is_not_claimed_and_refused_where_it_is_no_word(
    running: CoreProcess,
) -> None:
    assert speak(running, variant="plain", delivery="hushed").status_code == 200
    answer = speak(running, variant="plain", delivery="calm")
    assert refused(answer) == (400, "bad_request", False)
    message = answer.json()["error"]["message"]
    assert message.startswith("delivery: ")
    assert all(word in message for word in ("hushed", "frantic", "calm"))


@pytest.mark.contract("d.codes.coerced-boolean", "d.codes.coerced")
@pytest.mark.parametrize(
    ("word", "is_streamed"), [("off", False), ("false", False), ("on", True), ("1", True)]
)
def test_booleans_and_numbers_may_be_strings(
    running: CoreProcess, word: str, is_streamed: bool
) -> None:
    answer = speak(running, variant="dialled", stream=word, seed="7", params={"pitch": "2"})
    assert answer.status_code == 200
    assert ("content-length" in answer.headers) is not is_streamed
    meant = speak(running, variant="dialled", stream=is_streamed, seed=7, params={"pitch": 2})
    assert answer.content == meant.content


@pytest.mark.contract("d.headers.host")
@pytest.mark.parametrize("hosts", [0, 2])
def test_a_request_has_one_host(running: CoreProcess, hosts: int) -> None:
    url = httpx.URL(running.url)
    connection = http.client.HTTPConnection(url.host, url.port, timeout=PATIENCE_SECONDS)
    connection.putrequest("GET", "/health", skip_host=True)
    for _ in range(hosts):
        connection.putheader("Host", "localhost")
    connection.endheaders()
    with connection.getresponse() as answer:
        error = json.load(answer)["error"]
    connection.close()
    assert (answer.status, error["code"]) == (400, "bad_request")
    assert error["message"].startswith("Host: ")


@pytest.mark.contract("d.limits.body")
def test_a_body_over_a_mebibyte_is_bad(running: CoreProcess) -> None:
    assert refused(speak(running, text="x" * (1 << 20))) == (400, "bad_request", False)


@pytest.mark.contract("d.limits.head")
def test_a_head_over_the_limit_is_bad(running: CoreProcess) -> None:
    headers = {"x-long": "x" * 70_000}
    answer = httpx.get(f"{running.url}/health", headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "bad_request"


@pytest.mark.parametrize(
    ("flag", "says"),
    [
        ("oom-in-load", (503, "oom", True)),
        ("oom-in-speak", (503, "oom", True)),
        ("missing-weights", (503, "model_unavailable", True)),
        ("fail-load", (500, "internal", False)),
        ("raise-before-audio", (500, "internal", False)),
        ("no-audio", (500, "internal", False)),
        ("exit-at-start=3", (500, "internal", False)),
    ],
)
@pytest.mark.contract(
    "6.errors.oom", "6.errors.internal", "6.errors.model-unavailable", "d.start.audio-first"
)
def test_an_engine_that_fails_before_its_first_audio_is_an_envelope_in_both_modes(
    tmp_path: Path, flag: str, says: tuple[int, str, bool]
) -> None:
    with core(tmp_path, tone(flag)) as running:
        for stream in (False, True):
            assert refused(speak(running, stream=stream)) == says
        assert running.get("/health")["status"] == "ok"


@pytest.mark.contract("6.abort.worker", "6.abort.server", "6.buffer.errors")
@pytest.mark.parametrize("flag", ["raise-mid-stream=0.5", "exit-mid-stream=0.5"])
def test_an_engine_that_fails_after_its_first_audio_truncates_a_stream_and_answers_a_buffered(
    tmp_path: Path, flag: str
) -> None:
    with core(tmp_path, tone(flag, "pace=2")) as running:
        with pytest.raises(httpx.RemoteProtocolError):
            speak(running, stream=True, text="word " * 20)
        status, code, _ = refused(speak(running, text="word " * 20))
        assert (status, code) == (500, "internal")


@pytest.mark.contract("6.floor.streamed", "6.floor.buffered")
def test_a_body_under_the_floor_is_no_audio(tmp_path: Path) -> None:
    with core(tmp_path, tone("short-body=20")) as running:
        assert refused(speak(running)) == (500, "internal", False)
        with pytest.raises(httpx.RemoteProtocolError):
            speak(running, stream=True)


@pytest.mark.contract("3.load.retry-once")
def test_a_load_that_fails_once_is_not_even_noticed(tmp_path: Path) -> None:
    with core(tmp_path, tone("fail-load-once")) as running:
        assert speak(running).status_code == 200
