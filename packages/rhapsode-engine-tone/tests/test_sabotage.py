"""A sabotaged engine does what it was asked to; what ends a process is shown in one of its own."""

import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from rhapsode_engine_tone import ToneEngine
from rhapsode_engine_tone.misbehaviour import parse
from rhapsode_engine_tone.sabotage import SabotagedTone
from rhapsode_worker.requests import DialogueRequest, SpeakRequest, Turn

REQUEST = SpeakRequest("a" * 20, "plain")  # 1.2 s
NO_VOICES = Path(__file__).with_name("no-voices")


def whole() -> bytes:
    engine = ToneEngine()
    engine.voice_dir = NO_VOICES
    return b"".join(engine.speak(REQUEST))


WHOLE = whole()


def sabotaged(flags: str) -> SabotagedTone:
    engine = SabotagedTone(parse(flags))
    engine.voice_dir = NO_VOICES
    return engine


def end_of(flags: str) -> "subprocess.CompletedProcess[str]":
    """Starts, loads and speaks in a process of its own."""
    program = f"""
from rhapsode_engine_tone.misbehaviour import parse
from rhapsode_engine_tone.sabotage import SabotagedTone, sabotage_start
from rhapsode_worker.requests import SpeakRequest
import os, signal, sys
from pathlib import Path
flags = parse({flags!r})
sabotage_start(flags)
engine = SabotagedTone(flags)
engine.voice_dir = Path("no-voices")
engine.load("plain")
for piece in engine.speak(SpeakRequest("a" * 20, "plain")):
    sys.stderr.write("piece ")
    sys.stderr.flush()
os.kill(os.getpid(), signal.SIGTERM)
sys.stderr.write("still here")
"""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )


@pytest.mark.parametrize(
    ("flag", "status"),
    [("die-mid-stream=0.25", -signal.SIGKILL), ("segv-mid-stream=0.25", -signal.SIGSEGV),
     ("exit-mid-stream=0.25", 1)],
)  # fmt: skip
def test_a_process_ends_in_the_middle_once_that_much_was_heard(flag: str, status: int) -> None:
    ended = end_of(flag)
    assert ended.returncode == status
    assert ended.stderr.count("piece") == 3


def test_a_process_leaves_at_the_start_with_the_status_asked_for() -> None:
    ended = end_of("exit-at-start=7")
    assert (ended.returncode, ended.stdout) == (7, "")
    assert "as asked" in ended.stderr


def test_the_polite_signal_ends_a_process_unless_it_is_to_be_ignored() -> None:
    assert end_of("").returncode == -signal.SIGTERM
    ended = end_of("ignore-sigterm")
    assert ended.returncode == 0
    assert ended.stderr.endswith("still here")


def test_printing_goes_to_standard_output_at_every_stage() -> None:
    printed = end_of("print").stdout
    for where in ("at the start", "in load", "in speak"):
        assert f"printed {where}" in printed
        assert f"below Python {where}" in printed


def test_only_the_first_load_fails_if_it_is_to_fail_once() -> None:
    engine = sabotaged("fail-load-once")
    with pytest.raises(RuntimeError):
        engine.load("plain")
    engine.load("plain")


@pytest.mark.parametrize(
    ("flag", "failure"),
    [("fail-load", RuntimeError), ("oom-in-load", MemoryError), ("missing-weights", OSError)],
)
def test_every_load_fails_as_asked(flag: str, failure: type[Exception]) -> None:
    engine = sabotaged(flag)
    for _ in range(2):
        with pytest.raises(failure):
            engine.load("plain")


@pytest.mark.parametrize(
    ("flag", "failure"), [("raise-before-audio", RuntimeError), ("oom-in-speak", MemoryError)]
)
def test_speaking_fails_before_the_first_piece(flag: str, failure: type[Exception]) -> None:
    with pytest.raises(failure):
        next(sabotaged(flag).speak(REQUEST))


def test_speaking_fails_in_the_middle_after_what_was_heard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="rhapsode_engine_tone")
    speech = sabotaged("raise-mid-stream=0.5").speak(REQUEST)
    assert b"".join(islice(speech, 5)) == WHOLE[:24_000]
    with pytest.raises(RuntimeError) as failure:
        next(speech)
    # The utterance inside is over, though the traceback of the failure still holds it.
    assert caplog.messages[-1] == "stopped after 500 ms of audio"
    assert failure.tb


def test_no_audio_is_no_piece() -> None:
    assert list(sabotaged("no-audio").speak(REQUEST)) == []


@pytest.mark.parametrize("size", [1, 4800, 4801, 10_000])
def test_a_short_body_has_the_bytes_asked_for(size: int) -> None:
    assert b"".join(sabotaged(f"short-body={size}").speak(REQUEST)) == WHOLE[:size]


@pytest.mark.parametrize(
    "flags", ["ragged", "pace=50", "ragged,pace=100", "hold-the-interpreter=0.01"]
)
def test_what_only_delays_or_cuts_loses_nothing(flags: str) -> None:
    assert b"".join(sabotaged(flags).speak(REQUEST)) == WHOLE


def test_ragged_pieces_end_within_samples() -> None:
    assert [len(piece) for piece in islice(sabotaged("ragged").speak(REQUEST), 4)] == [1, 2, 3, 4]


def test_closing_a_sabotaged_utterance_closes_the_one_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="rhapsode_engine_tone")
    speech = sabotaged("pace=100").speak(REQUEST)
    next(speech)
    speech.close()
    assert caplog.messages[-1] == "stopped after 100 ms of audio"


def test_a_conversation_is_spoiled_like_a_text() -> None:
    request = DialogueRequest((Turn("a", "a" * 20),), "plain")
    assert len(b"".join(sabotaged("short-body=100").dialogue(request))) == 100
