"""The tutorial for engine authors: each of its programs is a worker, and each step is in one."""

import io
import json
import subprocess
import sys
import urllib.request
import wave
from pathlib import Path

import pytest
import rhapsode_worker
from rhapsode_conform.form import FORM_TYPE, File, form

from .author_page import (
    AUTHOR_PAGE,
    PROGRAMS,
    blocks_of,
    is_program,
    programs,
    steps,
    working,
    write_programs,
)
from .typed_in import content

pytestmark = pytest.mark.slow

STEPS = steps()

SHOWN: dict[int, dict[str, object]] = {
    1: {},
    2: {},
    3: {"voice": "high"},
    4: {"voice": "high", "params": {"vibratoDepth": 0.3}},
    5: {"text": "A bee! [laugh] In a bottle.", "delivery": "hushed"},
    6: {"text": "A bee in a bottle. " * 20},
    7: {"voice": "twin"},
}
"""A request for what each step of the page brings, by the step's number."""

JSON = "application/json"
LONG = "A bee in a bottle. " * 20


def answered(url: str, path: str, body: bytes, content_type: str) -> bytes:
    """Sends a request to a worker; returns what a success has in it."""
    asked = urllib.request.Request(url + path, body, {"Content-Type": content_type})
    with urllib.request.urlopen(asked) as answer:
        return answer.read()


def recording(url: str, **request: object) -> tuple[int, bytes]:
    """Has a worker speak; returns the WAV file's frames a second and its samples."""
    body = answered(url, "/speak", json.dumps(request).encode(), JSON)
    with wave.open(io.BytesIO(body)) as file:
        return file.getframerate(), file.readframes(file.getnframes())


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_speaks_when_run_by_hand(name: str, tmp_path: Path) -> None:
    write_programs(tmp_path)
    with working(tmp_path / name) as url:
        rate, samples = recording(url, text=LONG)
    assert rate == 24_000
    assert len(samples) > 10 * 2 * rate
    assert any(samples)


def test_what_the_last_program_claims_is_heard(tmp_path: Path) -> None:
    write_programs(tmp_path)
    with working(tmp_path / "buzz.py") as url:
        _, plain = recording(url, text="A bee in a bottle.")
        turned: list[dict[str, object]] = [
            {"voice": "high"},
            {"params": {"speed": 2.0}},
            {"params": {"vibratoDepth": 0.5}},
            {"delivery": "hushed"},
            {"text": "A bee in a bottle. [laugh]"},
        ]
        heard = [recording(url, **{"text": "A bee in a bottle.", **one})[1] for one in turned]
    assert len({plain, *heard}) == 1 + len(turned)


def test_what_the_swarm_can_do_besides_is_done(tmp_path: Path) -> None:
    write_programs(tmp_path)
    table = tmp_path / "swarm.weights" / "wave.bin"
    with working(tmp_path / "swarm.py") as url:
        assert not table.exists()
        assert answered(url, "/fetch", b'{"variant": "hum"}', JSON) == b""
        assert table.exists()
        blend = form(id="alto", label="Alto", blend="low(1)+high(2)")
        assert json.loads(answered(url, "/voices", blend, FORM_TYPE))["id"] == "alto"
        heard = {recording(url, text="Bee.", voice=voice)[1] for voice in ("low", "high", "alto")}
        assert len(heard) == 3
        with urllib.request.urlopen(url + "/health") as health:
            assert json.load(health)["modelBytes"] == table.stat().st_size
        turns = [{"speaker": "Ann", "text": "Bee."}, {"speaker": "Bo", "text": "Bee."}]
        one = json.dumps({"turns": turns, "voices": {"Ann": "high"}, "format": "pcm"}).encode()
        other = json.dumps({"turns": turns, "voices": {"Bo": "high"}, "format": "pcm"}).encode()
        talk = [answered(url, "/dialogue", asked, JSON) for asked in (one, other)]
        assert len(talk[0]) == len(talk[1]) > 0
        assert talk[0] != talk[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_conforms(name: str, tmp_path: Path) -> None:
    write_programs(tmp_path)
    conform = Path(sys.executable).with_name("rhapsode-conform")
    done = subprocess.run(
        [conform, "--", sys.executable, tmp_path / name],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("number", STEPS)
def test_after_each_step_the_program_starts_and_speaks(number: int, tmp_path: Path) -> None:
    program = tmp_path / "buzz.py"
    program.write_text(STEPS[number], encoding="utf-8")
    with working(program) as url:
        rate, samples = recording(url, text=LONG)
        assert rate == 24_000
        assert any(samples)
        if number == 7:
            clip = answered(url, "/speak", b'{"text": "Aaah.", "voice": "high"}', JSON)
            twin = form(id="twin", label="Her twin", reference=File("clip.wav", clip))
            answered(url, "/voices", twin, FORM_TYPE)
        asked: dict[str, object] = {"text": "A bee in a bottle."}
        _, shown = recording(url, **asked | SHOWN[number])
    assert any(shown)


def test_the_steps_together_are_the_last_program() -> None:
    assert content(STEPS[max(STEPS)]) == content(programs()["buzz.py"])


def test_every_piece_of_the_page_is_in_a_step_or_a_program() -> None:
    text = AUTHOR_PAGE.read_text(encoding="utf-8").partition("\n## The whole program\n")[2]
    assert all(is_program(block) for block in blocks_of(text, "python"))
    assert list(STEPS) == list(SHOWN)


def test_the_names_said_to_be_in_the_sdk_are() -> None:
    errors = {"BadRequest", "UnknownVoice", "Unsupported", "ModelUnavailable", "Internal"}
    assert errors | {"OutOfMemory", "ALL_CUES", "split"} <= set(rhapsode_worker.__all__)
