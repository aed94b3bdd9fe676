"""Containers are read to their end, and what is wrong with one is said."""

from collections.abc import Callable

import pytest
from rhapsode_conform.containers import READERS, NotAudio, read_wav
from rhapsode_conform.sound import Sound
from rhapsode_conform.wave_file import wave_file

from . import empty_containers

SECOND = bytes(16_000)
"""One second at 8 kHz."""

MAKERS: dict[str, Callable[[bytes], bytes]] = {
    "wav": empty_containers.wav,
    "mp3": empty_containers.mp3,
    "opus": empty_containers.opus,
    "flac": empty_containers.flac_of,
}
PADDED_MS = 300
"""What the tag and the padding of the MP3 add to it."""


@pytest.mark.parametrize("form", MAKERS)
def test_a_container_says_how_long_it_is(form: str) -> None:
    container = READERS[form](MAKERS[form](SECOND))
    assert container.duration_ms == pytest.approx(1000, abs=PADDED_MS if form == "mp3" else 0)


def test_an_mp3_says_how_long_its_frames_are() -> None:
    assert READERS["mp3"](empty_containers.mp3(SECOND)).frame_ms == 72


@pytest.mark.parametrize("form", MAKERS)
def test_nothing_else_is_taken_for_it(form: str) -> None:
    for other in MAKERS:
        if other != form:
            with pytest.raises(NotAudio):
                READERS[form](MAKERS[other](SECOND))
    with pytest.raises(NotAudio):
        READERS[form](b'{"error": "a complaint"}' * 20)
    with pytest.raises(NotAudio):
        READERS[form](b"")


@pytest.mark.parametrize("form", ["mp3", "opus"])
def test_one_that_is_cut_short_is_none(form: str) -> None:
    with pytest.raises(NotAudio):
        READERS[form](MAKERS[form](SECOND)[:-30])


def test_an_ogg_page_is_held_against_its_checksum() -> None:
    body = bytearray(empty_containers.opus(SECOND))
    body[-1] ^= 1
    with pytest.raises(NotAudio, match="checksum"):
        READERS["opus"](bytes(body))


def test_a_frame_that_is_missing_from_a_flac_is_missed() -> None:
    whole = empty_containers.flac_of(bytes(2 * 4096 * 3))
    first = whole.index(b"\xff\xf8")
    second = whole.index(b"\xff\xf8", first + 1)
    without_second = whole[:second] + whole[whole.index(b"\xff\xf8", second + 1) :]
    assert READERS["flac"](whole).duration_ms == 3 * 512
    assert READERS["flac"](without_second).duration_ms == 512
    # (The third frame says that it is the third, so it does not follow the first.)


def test_a_wav_knows_its_sizes_told_and_real() -> None:
    assert read_wav(empty_containers.wav(SECOND)).is_exact
    trailing = read_wav(empty_containers.wav(SECOND) + b"LIST")
    assert not trailing.is_exact
    unknown = read_wav(empty_containers.wav(SECOND, riff_size=2**32 - 1, data_size=2**32 - 1))
    assert unknown.is_open_ended
    assert not unknown.is_exact


def test_a_reference_is_a_wav_of_the_length_asked_for() -> None:
    made = wave_file(Sound(bytes(range(200)), 8000, 1), 2.0)
    wav = read_wav(made)
    assert wav.is_exact
    assert wav.duration_ms == 2000
    backwards = wave_file(Sound(bytes(range(200)), 8000, 1), 2.0, is_backwards=True)
    assert backwards != made and len(backwards) == len(made)
