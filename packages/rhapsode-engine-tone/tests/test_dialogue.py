"""A conversation is turn after turn, each in its speaker's voice."""

from pathlib import Path

import pytest
from rhapsode_engine_tone import ToneEngine
from rhapsode_engine_tone.engine import voices_of
from rhapsode_engine_tone.tuning import TURN_PAUSE_MS, VOICES
from rhapsode_worker.requests import DialogueRequest, SpeakRequest, Turn

TURNS = (Turn("a", "Did you hear that?"), Turn("b", "No."), Turn("a", "Listen!"))


@pytest.fixture
def tone(tmp_path: Path) -> ToneEngine:
    engine = ToneEngine()
    engine.voice_dir = tmp_path
    return engine


def test_each_turn_is_what_its_speaker_would_say_alone(tone: ToneEngine) -> None:
    voices = {"a": "c5", "b": "a3"}
    alone = [
        b"".join(tone.speak(SpeakRequest(turn.text, "plain", voice=voices[turn.speaker], seed=7)))
        for turn in TURNS
    ]
    pause = bytes(2 * 24 * TURN_PAUSE_MS)
    whole = b"".join(tone.dialogue(DialogueRequest(TURNS, "plain", voices=voices, seed=7)))
    assert whole == pause.join(alone)


@pytest.mark.contract("6.dialogue.no-voice")
def test_a_speaker_without_a_voice_gets_one_that_the_seed_holds_fixed() -> None:
    crowd = tuple(Turn(speaker, "Hello.") for speaker in "abcd")

    def picked(seed: int | None) -> dict[str, str]:
        return voices_of(DialogueRequest(crowd, "plain", voices={"b": "a4"}, seed=seed))

    assert picked(7) == picked(7)
    assert len({tuple(picked(seed).items()) for seed in range(9)}) > 3
    for seed in (None, *range(9)):
        assert picked(seed)["b"] == "a4"
        assert len(set(picked(seed).values())) == 4
        assert set(picked(seed).values()) <= VOICES.keys()
