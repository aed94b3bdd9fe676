"""What the real engine says through the real server is what a recogniser writes down."""

import subprocess
from collections.abc import Generator
from pathlib import Path

import httpx
import jiwer
import pytest

from .served import HIBARI, ROOT, hibari, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

RECOGNISER = ROOT / ".cache" / "recogniser" / "bin" / "python"
MODEL = ROOT / ".cache" / "recogniser" / "model"
TRANSCRIBE = ROOT / "tests" / "recogniser" / "transcribe.py"

SENTENCES = (
    "The old lighthouse keeper climbed the winding stairs every evening before sunset.",
    "She sold all of the tickets for the concert in the town hall within an hour.",
    "Please remember to bring your umbrella, because heavy rain is expected tomorrow morning.",
)

MOST_WRONG_WORDS = 0.10

PLAIN = jiwer.Compose(
    [
        jiwer.ToLowerCase(),
        jiwer.RemovePunctuation(),
        jiwer.RemoveMultipleSpaces(),
        jiwer.Strip(),
        jiwer.ReduceToListOfListOfWords(),
    ]
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    assert HIBARI.exists(), "script/test makes the engine's environment"
    with serving(tmp_path_factory.mktemp("server"), hibari()) as it:
        yield it


def speak(url: str, text: str, path: Path, audio_format: str, stream: bool) -> Path:
    body = {"engine": "hibari", "text": text, "format": audio_format, "stream": stream, "seed": 1}
    answer = httpx.post(f"{url}/speak", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    path.write_bytes(answer.content)
    return path


def written_down(*files: Path | str) -> list[str]:
    assert RECOGNISER.exists(), "script/test makes the recogniser's environment"
    done = subprocess.run(
        [RECOGNISER, TRANSCRIBE, MODEL, *files], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("audio_format", "stream"), [("wav", False), ("wav", True), ("mp3", False), ("opus", True)]
)
def test_a_recogniser_understands_nine_words_in_ten(
    url: str, tmp_path: Path, audio_format: str, stream: bool
) -> None:
    files = [
        speak(url, text, tmp_path / f"{number}.{audio_format}", audio_format, stream)
        for number, text in enumerate(SENTENCES)
    ]
    heard = written_down(*files)
    assert len(heard) == len(SENTENCES)
    wrong = jiwer.wer([*SENTENCES], heard, reference_transform=PLAIN, hypothesis_transform=PLAIN)
    assert wrong < MOST_WRONG_WORDS, heard
