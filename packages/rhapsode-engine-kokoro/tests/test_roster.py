"""Who speaks."""

from rhapsode_engine_kokoro.roster import DEFAULT, NAMES, named_language, speakers


def test_the_release_has_54_voices_in_the_order_of_their_names() -> None:
    assert len(set(NAMES)) == 54
    assert list(NAMES) == sorted(NAMES)


def test_those_whose_language_can_be_read_speak_the_best_first() -> None:
    voices = list(speakers().values())
    assert voices[0].id == DEFAULT
    assert len(voices) == 28
    assert {voice.language for voice in voices} == {"en-US", "en-GB"}


def test_a_name_of_another_form_says_nothing() -> None:
    assert named_language("bf_emma") == "en-GB"
    assert named_language("narrator") is None
    assert named_language("af") is None
    assert named_language("ef_dora") is None
