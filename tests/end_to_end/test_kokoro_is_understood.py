"""What Kokoro says through the server, with its real weights, is what a recogniser writes down."""

from collections.abc import Generator
from pathlib import Path
from typing import Final

import httpx
import jiwer
import pytest

from .served import ROOT, serving
from .test_speech_is_understood import PLAIN, SENTENCES, written_down

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

WEIGHTS: Final = ROOT / ".cache" / "kokoro"

PARAGRAPH: Final = (
    "Nobody in the village remembers who planted the orchard. Some say that it was a monk, who"
    " carried the first saplings over the pass in a basket. Others believe that a merchant's"
    " cart overturned here, and that the trees grew from what was lost."
)

MOST_WRONG_WORDS: Final = 0.05


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    assert WEIGHTS.exists(), "script/test fetches the weights"
    table = f'[engines.kokoro]\nvenv = "{ROOT / ".venv"}"'
    environment = f'[engines.kokoro.env]\nRHAPSODE_WEIGHTS_DIR = "{WEIGHTS}"'
    with serving(tmp_path_factory.mktemp("server"), f"{table}\n\n{environment}\n\n") as it:
        yield it


def speak(url: str, text: str, voice: str, path: Path) -> Path:
    body = {"engine": "kokoro", "variant": "int8", "text": text, "voice": voice}
    answer = httpx.post(f"{url}/speak", json=body, timeout=120)
    assert answer.status_code == 200, answer.text
    path.write_bytes(answer.content)
    return path


@pytest.mark.parametrize(
    "voice",
    [
        "af_heart",
        pytest.param("am_michael", marks=pytest.mark.soak),
        "bf_emma",
        pytest.param("bm_george", marks=pytest.mark.soak),
    ],
)
def test_a_recogniser_understands_nineteen_words_in_twenty(
    url: str, tmp_path: Path, voice: str
) -> None:
    texts = [*SENTENCES, PARAGRAPH]
    files = [
        speak(url, text, voice, tmp_path / f"{number}.wav") for number, text in enumerate(texts)
    ]
    heard = written_down(*files)
    wrong = jiwer.wer(texts, heard, reference_transform=PLAIN, hypothesis_transform=PLAIN)
    assert wrong < MOST_WRONG_WORDS, heard


def test_a_blend_is_understood_and_sounds_like_neither(url: str, tmp_path: Path) -> None:
    form = {"id": "mix", "blend": "af_heart+bm_george"}
    # Each field a part of a form, as a page sends it.
    parts = {name: (None, value) for name, value in form.items()}
    made = httpx.post(f"{url}/engines/kokoro/voices", files=parts, timeout=60)
    assert made.status_code < 300, made.text
    names = ("mix", "af_heart", "bm_george")
    files = [speak(url, SENTENCES[0], name, tmp_path / f"{name}.wav") for name in names]
    assert len({file.read_bytes() for file in files}) == len(files)
    heard = written_down(files[0])
    assert (
        jiwer.wer([SENTENCES[0]], heard, reference_transform=PLAIN, hypothesis_transform=PLAIN)
        < 0.1
    ), heard
