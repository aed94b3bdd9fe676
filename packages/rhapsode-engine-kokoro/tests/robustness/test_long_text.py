"""The longest text that a request may carry, full of what is hard to read, is spoken whole."""

import subprocess
import wave
from array import array
from itertools import count, cycle
from pathlib import Path
from typing import Final

import pytest
from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro.phrases import phrases_of
from rhapsode_engine_kokoro.pronunciation import Pronunciation
from rhapsode_worker.requests import SpeakRequest

from .stock import VARIANT, WEIGHTS

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

ROOT: Final = Path(__file__).parents[4]
RECOGNISER: Final = ROOT / ".cache" / "recogniser"

LONGEST: Final = 4096
"""What `maxCharacters` is where nobody says otherwise."""

RATE: Final = 24_000

HARD: Final = (
    "On 3 March 1987, Dr. Aoife O'Brien-Nakamura paid ${0},250.75 (plus 8.5% tax) to Siddiq & Co.",
    "Call +44 20 7946 0{0}, ext. 12; ask for Ms. Wójcik—not Mr. Szczepański!",
    "“Really?!” said Xochitl… “Yes: 1/2 of {0} is a lot; 7 x 8 = 56.”",
    "Order #A-{0}/B: 12 pcs. @ £3.20, 5 kg, 20°C, 99.9%, v2.10.{0}.",
    "J. R. R. Nguyễn, Ph.D., lives at {0} St. John's Rd., Apt. 4-C, N.Y. 10001.",
    "1st, 2nd, 3rd, 22nd, {0}th... MCMXCIX; 14:35 or 2:35 p.m.? (Who knows?)",
    "See https://example.org/a?b={0} or write to siobhan.{0}@example.org.",
)

BEGINNING: Final = "Before anything else, the keeper lit the lamp."
END: Final = "At the very end, the orchard was quiet and the old bridge was empty."


def hard_text() -> str:
    """Returns numbers, names and punctuation of just the length, between two plain sentences."""
    room = LONGEST - len(BEGINNING) - len(END) - 2
    middle = ""
    for number, line in zip(count(131, 17), cycle(HARD)):
        longer = f"{middle} {line.format(number)}".strip()
        if len(longer) > room - 2:
            break
        middle = longer
    # What is missing to the length is one long number.
    middle += f" {'7' * (room - len(middle) - 2)}."
    return f"{BEGINNING} {middle} {END}"


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> list["array[int]"]:
    """The samples of each phrase, in order."""
    assert WEIGHTS.exists(), "script/test fetches the weights"
    engine = KokoroEngine()
    engine.voice_dir = tmp_path_factory.mktemp("voices")
    engine.weights_dir = WEIGHTS
    engine.load(VARIANT)
    request = SpeakRequest(hard_text(), VARIANT, voice="af_heart")
    phrases: list[array[int]] = []
    for piece in engine.speak(request):
        if not any(piece):  # the pause before a phrase, which is empty before the first
            phrases.append(array("h"))
        else:
            phrases[-1].frombytes(piece)
    return phrases


def test_every_phrase_of_4096_characters_is_spoken_at_a_speaking_pace(
    spoken: list["array[int]"],
) -> None:
    text = hard_text()
    assert len(text) == LONGEST
    wanted = list(phrases_of(text, Pronunciation(british=False).phonemes_of))
    assert len(wanted) > 40
    assert len(spoken) == len(wanted)
    for phrase, samples in zip(wanted, spoken, strict=True):
        seconds = len(samples) / RATE
        assert 4 < len(phrase.phonemes) / seconds < 30, phrase
        assert max(map(abs, samples)) > 1_000, phrase


def test_a_recogniser_hears_how_it_begins_and_how_it_ends(
    spoken: list["array[int]"], tmp_path: Path
) -> None:
    assert RECOGNISER.exists(), "script/test makes the recogniser's environment"
    beginning, end = tmp_path / "beginning.wav", tmp_path / "end.wav"
    write(beginning, spoken[:3])
    write(end, spoken[-1:])  # what is before it is sevens, of which a recogniser makes more
    transcribe = ROOT / "tests" / "recogniser" / "transcribe.py"
    command = [RECOGNISER / "bin" / "python", transcribe, RECOGNISER / "model", beginning, end]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    first, last = done.stdout.lower().splitlines()
    assert "keeper lit the lamp" in first
    assert "bridge was empty" in last


def write(path: Path, phrases: list["array[int]"]) -> None:
    """Writes phrases one after the other."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        for samples in phrases:
            file.writeframes(samples.tobytes())
