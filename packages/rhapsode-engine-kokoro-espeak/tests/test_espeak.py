"""eSpeak NG's library."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from rhapsode_engine_kokoro_espeak.espeak import phonemes_in

TEXTS = {"es": "guitarra y lluvia", "fr": "montagne et feuille", "hi": "नमस्ते", "it": "gli gnocchi"}


def test_it_says_a_text_as_its_voice_does() -> None:
    assert phonemes_in("ciudad", "es") == "θjuðˈad"
    assert phonemes_in("ciudad", "fr") != phonemes_in("ciudad", "es")


def test_every_clause_is_said() -> None:
    said = phonemes_in("uno, dos.\ntres! cuatro", "es")
    assert said.split() == ["ˈuno", "dˈos", "tɾˈes", "kwˈatɾo"]


def test_a_voice_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="xx-none"):
        phonemes_in("a", "xx-none")


def test_callers_on_many_threads_get_their_own_words() -> None:
    alone = {voice: phonemes_in(text, voice) for voice, text in TEXTS.items()}
    voices = [*TEXTS] * 500
    texts = [TEXTS[voice] for voice in voices]
    with ThreadPoolExecutor(8) as threads:
        said = [*threads.map(phonemes_in, texts, voices)]
    assert said == [alone[voice] for voice in voices]


def test_a_folder_too_deep_for_it_is_an_error_in_words_and_ends_no_process(tmp_path: Path) -> None:
    # Its buffer of a path has 160 bytes; without its data it would end the process by itself.
    program = """
import sys
from rhapsode_engine_kokoro_espeak import espeak
espeak.get_data_path = lambda: sys.argv[1]
try:
    espeak.phonemes_in("a", "es")
except RuntimeError as error:
    print(error)
"""
    deep = tmp_path / ("d" * 160)
    # Without what would lead it to the data of another eSpeak.
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", program, str(deep)],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "cannot use its data" in ran.stdout
