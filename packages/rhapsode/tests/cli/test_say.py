"""`rhapsode say` against a real listener that answers as a core does, or as one should not."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import wave
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

import pytest
import typer
from rhapsode.cli.say import say
from typer.testing import CliRunner, Result

SAMPLES = 8000
HEADER = (
    b"RIFF" + (36 + 2 * SAMPLES).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    + b"\x01\x00\x01\x00" + (8000).to_bytes(4, "little") + (16000).to_bytes(4, "little")
    + b"\x02\x00\x10\x00data" + (2 * SAMPLES).to_bytes(4, "little")
)  # fmt: skip
WAV = HEADER + bytes(2 * SAMPLES)
ENGINES = [
    {"id": "broken", "displayName": "B", "process": "failed", "model": "unloaded", "restarts": 6},
    {"id": "tone", "displayName": "Tone", "process": "down", "model": "unloaded", "restarts": 0},
]


@dataclass
class Core:
    """What the listener answers, and what it was asked."""

    url: str = ""
    engines_status: int = 200
    engines: bytes = field(default_factory=lambda: json.dumps(ENGINES).encode())
    status: int = 200
    content_type: str = "audio/wav"
    answer: bytes = WAV
    is_cut: bool = False
    """Whether the body ends before its chunks do."""
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@contextmanager
def listening(core: Core) -> Generator[Core]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(core.engines_status)
            self.send_header("Content-Length", str(len(core.engines)))
            self.end_headers()
            self.wfile.write(core.engines)

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            core.asked.append(json.loads(self.rfile.read(length)))
            self.send_response(core.status)
            self.send_header("Content-Type", core.content_type)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(core.answer), core.answer))
            if not core.is_cut:
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        core.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield core
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def core() -> Generator[Core]:
    with listening(Core()) as it:
        yield it


@pytest.fixture(autouse=True)
def _a_silent_machine_in_an_empty_folder(  # pyright: ignore[reportUnusedFunction]  # autouse
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # No player is on this PATH, so the test is the same with and without a loudspeaker.
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("RHAPSODE_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def run(*words: str, stdin: bytes | None = None) -> Result:
    app = typer.Typer()
    app.command()(say)
    return CliRunner().invoke(app, words, input=stdin)


def test_a_named_file_gets_the_audio(core: Core) -> None:
    done = run("Hello.", "-o", "out.wav", "--url", core.url)
    assert done.exit_code == 0
    assert Path("out.wav").read_bytes() == WAV
    assert core.asked[0]["text"] == "Hello."
    assert core.asked[0]["stream"] is False


def test_without_a_player_the_audio_goes_to_a_file_and_that_is_said(core: Core) -> None:
    done = run("Hello.", "--url", core.url)
    assert done.exit_code == 0
    assert "speech.wav" in done.stderr
    with wave.open("speech.wav") as audio:
        assert audio.getnframes() == SAMPLES


def install_player(folder: Path, code: str) -> None:
    """Puts an `aplay` on the PATH that is a line of Python."""
    program = folder / "aplay"
    program.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{code}\n", encoding="utf-8")
    program.chmod(0o755)


def test_with_a_player_the_audio_is_streamed_to_it_and_kept_nowhere(
    core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULSE_SERVER", "somewhere")
    heard = tmp_path / "heard"
    install_player(tmp_path, f"pathlib.Path({str(heard)!r}).write_bytes(sys.stdin.buffer.read())")
    done = run("Hello.", "--url", core.url)
    assert done.exit_code == 0
    assert heard.read_bytes() == WAV
    assert core.asked[0]["stream"] is True
    assert sorted(os.listdir()) == ["aplay", "heard"]


def test_a_player_that_will_not_play_costs_no_audio(
    core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULSE_SERVER", "nobody there")
    install_player(tmp_path, "sys.exit(1)")
    done = run("Hello.", "--url", core.url)
    assert done.exit_code == 0
    assert "speech.wav" in done.stderr
    assert Path("speech.wav").read_bytes() == WAV


def test_the_first_engine_that_has_not_failed_is_chosen_and_named(core: Core) -> None:
    done = run("Hello.", "--url", core.url)
    assert core.asked[0]["engine"] == "tone"
    assert "tone" in done.stderr


def test_a_server_without_engines_is_an_error(core: Core) -> None:
    core.engines = b"[]"
    assert run("Hello.", "--url", core.url).exit_code == 1
    assert core.asked == []


@pytest.mark.parametrize(
    ("name", "expected"), [("a.mp3", "mp3"), ("a.OGG", "opus"), ("a.flac", "flac"), ("a", "wav")]
)
def test_the_name_of_the_file_says_the_format(core: Core, name: str, expected: str) -> None:
    run("Hello.", "-o", name, "--url", core.url)
    assert core.asked[0]["format"] == expected


def test_an_ending_that_says_no_format_is_refused_before_anything_is_asked(core: Core) -> None:
    done = run("Hello.", "-o", "a.xyz", "--url", core.url)
    assert done.exit_code == 2
    assert ".xyz" in done.stderr
    assert core.asked == []


def test_an_ending_that_says_no_format_holds_what_was_asked_for(core: Core) -> None:
    assert run("Hello.", "-o", "a.xyz", "-f", "flac", "--url", core.url).exit_code == 0
    assert core.asked[0]["format"] == "flac"


def test_a_file_is_not_given_another_format_than_its_name_says(core: Core) -> None:
    done = run("Hello.", "-o", "a.flac", "-f", "mp3", "--url", core.url)
    assert done.exit_code == 2
    assert core.asked == []
    assert run("Hello.", "-o", "a.ogg", "-f", "opus", "--url", core.url).exit_code == 0


def test_every_option_reaches_the_request(core: Core) -> None:
    words = shlex.split(
        "--engine e --voice v --variant r --format mp3 --language fr --delivery hushed "
        "--seed 7 --param speed=1.5 --param gain=-2 --stream -o out"
    )
    run("Hello.", *words, "--url", core.url)
    assert core.asked == [
        {
            "text": "Hello.",
            "engine": "e",
            "voice": "v",
            "variant": "r",
            "format": "mp3",
            "language": "fr",
            "delivery": "hushed",
            "seed": 7,
            "params": {"speed": 1.5, "gain": -2.0},
            "stream": True,
        }
    ]


@pytest.mark.parametrize("words", [(), ("-",)])
def test_standard_input_is_read_where_no_text_is_given(core: Core, words: tuple[str, ...]) -> None:
    run(*words, "--url", core.url, stdin="Größe".encode())
    assert core.asked[0]["text"] == "Größe"


def test_a_dash_writes_the_audio_alone_to_standard_output(core: Core) -> None:
    done = run("Hello.", "-o", "-", "--url", core.url)
    assert done.stdout_bytes == WAV


def piped(core: Core, stdout: "int | BinaryIO") -> "subprocess.Popen[bytes]":
    """Starts the command with its output going to standard output."""
    command = [sys.executable, "-m", "rhapsode", "say", "Hello.", "-e", "tone", "-o", "-"]
    # An unbuffered standard output has nothing left to flush at the end, which is what can fail.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(
        [*command, "--url", core.url], stdout=stdout, stderr=subprocess.PIPE, env=environ
    )


def test_a_reader_that_leaves_ends_it_as_quietly_as_any_program(core: Core) -> None:
    core.answer = WAV * 64  # more than any pipe holds
    with piped(core, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read(4) == b"RIFF"
        process.stdout.close()
        assert process.stderr.read().decode().splitlines() == []
        assert process.wait(30) == 128 + signal.SIGPIPE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_standard_output_that_is_full_is_one_line(core: Core) -> None:
    with open("/dev/full", "wb") as full, piped(core, stdout=full) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode()
        assert process.wait(30) == 1
    assert said.startswith("rhapsode say: standard output: ")
    assert said.count("\n") == 1


def test_a_body_that_breaks_off_leaves_no_file(core: Core) -> None:
    core.is_cut = True
    done = run("Hello.", "-o", "out.wav", "--url", core.url)
    assert done.exit_code == 1
    assert "broke off" in done.stderr
    assert os.listdir() == []


def test_a_refusal_is_one_line_with_its_code(core: Core) -> None:
    core.status = 404
    core.answer = ERROR
    done = run("Hello.", "-o", "out.wav", "--engine", "tone", "--url", core.url)
    assert done.exit_code == 1
    assert "unknown_voice" in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir() == []


ERROR = b'{"error":{"code":"unknown_voice","message":"no voice [x]","retryable":false}}'


def test_where_nothing_listens_it_says_how_to_start_a_server() -> None:
    done = run("Hello.", "--url", "http://127.0.0.1:9")
    assert done.exit_code == 1
    assert "rhapsode serve" in done.stderr


@pytest.mark.parametrize("engine", [(), ("--engine", "tone")])
def test_a_server_that_is_not_rhapsode_is_named_as_one(core: Core, engine: tuple[str, ...]) -> None:
    core.engines_status = core.status = 404
    core.engines = core.answer = b"<title>No such page</title>"
    done = run("Hello.", *engine, "-o", "out.wav", "--url", core.url)
    assert done.exit_code == 1
    assert f"{core.url} does not answer as a Rhapsode server does" in done.stderr
    assert "404" in done.stderr
    assert os.listdir() == []


def test_a_list_of_something_else_is_no_list_of_engines(core: Core) -> None:
    core.engines = b'["a", "b"]'
    done = run("Hello.", "--url", core.url)
    assert f"{core.url} does not answer as a Rhapsode server does" in done.stderr


def test_a_page_is_not_written_as_audio(core: Core) -> None:
    core.content_type = "text/html"
    done = run("Hello.", "--engine", "tone", "-o", "out.wav", "--url", core.url)
    assert done.exit_code == 1
    assert f"{core.url} does not answer as a Rhapsode server does" in done.stderr
    assert os.listdir() == []


def test_what_speaks_no_http_is_told_from_audio_that_broke_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
                connection.recv(65536)

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        done = run("Hello.", "--url", url)
        thread.join()
    assert done.exit_code == 1
    assert f"{url} does not answer as a Rhapsode server does" in done.stderr


def test_a_plain_server_that_is_asked_for_tls_is_told_so(core: Core) -> None:
    done = run("Hello.", "--url", core.url.replace("http:", "https:"))
    assert done.exit_code == 1
    assert "TLS" in done.stderr


@pytest.mark.parametrize("url", ["localhost:8080", "http://", "http://h:99999", "http://[::1"])
def test_what_is_no_url_is_refused_in_words(url: str) -> None:
    done = run("Hello.", "--url", url)
    assert done.exit_code == 1
    assert repr(url) in done.stderr


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(core: Core) -> None:
    done = run("Hello.", "-o", "missing/out.wav", "--url", core.url)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("rhapsode say: missing/out.wav: ")


@pytest.mark.parametrize(
    ("option", "value", "shown"),
    [
        ("--param", "speed", "'speed'"),
        ("--param", "speed=fast", "speed: 'fast' is not a number"),
        ("--param", "speed=nan", "'nan'"),
        ("--param", "speed=1_0", "'1_0'"),
        ("--delivery", "loud", "'loud'"),
        ("--seed", "many", "seed: 'many' is not a whole number"),
        ("--seed", "1_0", "'1_0'"),
        ("--seed", str(2**63), str(2**63)),
    ],
)
def test_a_wrong_option_is_a_usage_error_that_shows_it(
    core: Core, option: str, value: str, shown: str
) -> None:
    done = run("Hello.", "--engine", "tone", option, value, "--url", core.url)
    assert done.exit_code == 2
    assert shown in done.stderr
    assert "Input" not in done.stderr
    assert core.asked == []


def test_standard_input_that_is_no_text_is_a_usage_error(core: Core) -> None:
    assert run("-", "--url", core.url, stdin=b"\xff\xfe").exit_code == 2


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert run("Hello.", "--url", core.url).exit_code == 0
