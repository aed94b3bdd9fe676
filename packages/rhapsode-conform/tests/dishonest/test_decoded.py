"""Bodies of every format are decoded, and what cannot be is said."""

import pytest
from rhapsode_conform.containers import READERS, NotAudio
from rhapsode_conform.decoded import decoded
from rhapsode_conform.likeness import ALIKE, likeness
from rhapsode_conform.sound import Sound

from . import empty_containers, encoders, tones

SAID = b"".join(tones.tone(hertz, 0.5, 200) for hertz in (300, 900, 500, 1200, 700))
FORMS = ("mp3", "opus", "flac")


def sound_of(form: str, body: bytes) -> Sound:
    return decoded(body, READERS[form](body).duration_ms)


@pytest.mark.parametrize("form", FORMS)
def test_what_was_encoded_is_heard(form: str) -> None:
    sound = sound_of(form, encoders.encoded(form, SAID))
    assert sound.duration_ms == pytest.approx(1000, abs=150)
    assert likeness(Sound(SAID, tones.RATE_HZ, 1), sound) > 0.98


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_container_of_the_same_length_is_not(form: str) -> None:
    body = empty_containers.MAKERS[form](SAID)
    try:
        sound = sound_of(form, body)
    except NotAudio:
        return
    assert likeness(Sound(SAID, tones.RATE_HZ, 1), sound) < ALIKE


def test_a_flac_that_does_not_say_its_length_is_decoded_to_its_end() -> None:
    whole = encoders.encoded("flac", SAID)
    streamed = whole[:21] + bytes([whole[21] & 0xF0]) + bytes(4) + whole[26:]
    assert sound_of("flac", streamed) == sound_of("flac", whole)


def test_what_is_no_audio_is_said_to_be_none() -> None:
    with pytest.raises(NotAudio, match="cannot be decoded"):
        decoded(b"{}" * 200, 1000)
