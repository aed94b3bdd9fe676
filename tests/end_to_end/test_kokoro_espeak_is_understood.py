"""What Kokoro says in languages that eSpeak NG reads is recognised as such and understood."""

from collections.abc import Generator
from pathlib import Path
from typing import Final

import httpx
import jiwer
import pytest

from .served import ROOT, serving
from .test_speech_is_understood import PLAIN, written_down

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

WEIGHTS: Final = ROOT / ".cache" / "kokoro"

MOST_WRONG_WORDS: Final = 0.15

SENTENCES: Final = {
    "es": (
        "El viejo farero subía la escalera todas las tardes antes de la puesta del sol.",
        "¿Por qué no vienes mañana a comer con nosotros en la casa de mi hermana?",
        "Recuerda traer el paraguas, porque se espera mucha lluvia para esta noche.",
    ),
    "fr": (
        "Le vieux gardien du phare montait tous les soirs avant le coucher du soleil.",
        "Pourquoi ne viens-tu pas déjeuner avec nous demain dans la maison de ma sœur ?",
        "N'oublie pas de prendre ton parapluie, car il va beaucoup pleuvoir cette nuit.",
    ),
    "it": (
        "Il vecchio guardiano del faro saliva le scale ogni sera prima del tramonto.",
        "Perché non vieni domani a mangiare con noi nella casa di mia sorella?",
        "Ricordati di portare l'ombrello, perché questa notte pioverà molto.",
    ),
    "pt": (
        "O velho guarda do farol subia as escadas todas as tardes antes do jantar.",
        "Quando você vem almoçar com a gente na casa da minha irmã?",
        "Não se esqueça de fechar as janelas, porque vai chover muito esta noite.",
    ),
}

HINDI: Final = (
    "नमस्ते, आज मौसम बहुत अच्छा है और हम बाज़ार जा रहे हैं।",
    "मेरा भाई दिल्ली में रहता है और वह एक अध्यापक है।",
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    assert WEIGHTS.exists(), "script/test fetches the weights"
    table = f'[engines.kokoro-espeak]\nvenv = "{ROOT / ".venv"}"'
    environment = f'[engines.kokoro-espeak.env]\nRHAPSODE_WEIGHTS_DIR = "{WEIGHTS}"'
    with serving(tmp_path_factory.mktemp("server"), f"{table}\n\n{environment}\n\n") as it:
        yield it


def spoken(url: str, texts: tuple[str, ...], voice: str, folder: Path) -> list[Path]:
    files: list[Path] = []
    for number, text in enumerate(texts):
        body = {"engine": "kokoro-espeak", "variant": "int8", "text": text, "voice": voice}
        answer = httpx.post(f"{url}/speak", json=body, timeout=120)
        assert answer.status_code == 200, answer.text
        files.append(folder / f"{number}.wav")
        files[-1].write_bytes(answer.content)
    return files


def recognised(files: list[Path]) -> tuple[set[str], list[str]]:
    """Returns the languages that were found, and what was said."""
    lines = [line.partition("\t") for line in written_down("--languages", *files)]
    return {language for language, _, _ in lines}, [heard for _, _, heard in lines]


@pytest.mark.parametrize(
    ("voice", "language"),
    [
        ("em_alex", "es"),
        ("ff_siwis", "fr"),
        pytest.param("if_sara", "it", marks=pytest.mark.soak),
        pytest.param("pf_dora", "pt", marks=pytest.mark.soak),
    ],
)
def test_a_recogniser_knows_the_language_and_understands_six_words_in_seven(
    url: str, tmp_path: Path, voice: str, language: str
) -> None:
    texts = SENTENCES[language]
    languages, heard = recognised(spoken(url, texts, voice, tmp_path))
    assert languages == {language}
    wrong = jiwer.wer([*texts], heard, reference_transform=PLAIN, hypothesis_transform=PLAIN)
    assert wrong < MOST_WRONG_WORDS, heard


@pytest.mark.soak
def test_hindi_is_known_as_hindi(url: str, tmp_path: Path) -> None:
    # The recogniser is too small to write it down.
    languages, _ = recognised(spoken(url, HINDI, "hf_alpha", tmp_path))
    assert languages == {"hi"}
