"""The tutorial for engine authors: each of its programs is a worker, and each step is in one."""

import inspect
import io
import json
import re
import subprocess
import sys
import textwrap
import urllib.request
import wave
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest
import rhapsode_worker
from rhapsode_worker import DialogueRequest, Engine, NewVoice

from .author_page import (
    AUTHOR_PAGE,
    PROGRAMS,
    blocks,
    is_program,
    programs,
    working,
    write_programs,
)

STEPS = [block for block in blocks(AUTHOR_PAGE, "python") if not is_program(block)]
SIGNATURES = [step for step in STEPS if step.rstrip().endswith(": ...")]

LONG = "A bee in a bottle. " * 20


def recording(url: str, **request: object) -> tuple[int, bytes]:
    """Has a worker speak; returns the WAV file's frames a second and its samples."""
    body = json.dumps(request).encode()
    asked = urllib.request.Request(url + "/speak", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as answer, wave.open(io.BytesIO(answer.read())) as file:
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


@pytest.mark.parametrize("step", [step for step in STEPS if step not in SIGNATURES])
def test_each_step_is_in_the_last_program_as_it_stands(step: str) -> None:
    assert step in programs()["buzz.py"]


def test_the_signatures_shown_are_the_sdk_s() -> None:
    (shown,) = SIGNATURES
    names: dict[str, object] = {
        "Iterator": Iterator,
        "NewVoice": NewVoice,
        "DialogueRequest": DialogueRequest,
    }
    exec(shown, names)
    methods = {name: value for name, value in names.items() if isinstance(value, FunctionType)}
    assert len(methods) == len(re.findall("^def ", textwrap.dedent(shown), flags=re.MULTILINE))
    for name, method in methods.items():
        assert inspect.signature(method) == inspect.signature(getattr(Engine, name))


def test_the_names_said_to_be_in_the_sdk_are() -> None:
    errors = {"BadRequest", "UnknownVoice", "Unsupported", "ModelUnavailable", "Internal"}
    assert errors | {"OutOfMemory", "ALL_CUES", "split"} <= set(rhapsode_worker.__all__)
