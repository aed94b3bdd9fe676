"""Which player is used, and what becomes of one that gives up."""

import sys
from pathlib import Path

import pytest
from rhapsode.cli.player import (
    PlaybackFailed,
    Player,
    find_player,
    has_audio_device,
    play_file,
    playing,
)


def python(code: str, needs_file: bool = False) -> Player:
    """Returns a player made of a line of Python."""
    return Player("stand-in", (sys.executable, "-c", code), ("wav",), needs_file)


def everything(name: str) -> str:
    """Finds every program."""
    return f"/bin/{name}"


def test_the_first_installed_player_that_reads_the_format_is_taken() -> None:
    found = find_player(
        "wav", has_device=True, which=lambda name: name if name != "ffplay" else None
    )
    assert found is not None
    assert found.name == "aplay"


def test_aplay_is_not_given_what_it_would_play_as_noise() -> None:
    assert find_player("mp3", has_device=True, which=lambda n: n if n == "aplay" else None) is None


def test_raw_samples_are_not_played_because_their_rate_is_in_no_header() -> None:
    assert find_player("pcm", has_device=True, which=everything) is None


def test_an_installed_player_is_no_sign_of_a_loudspeaker() -> None:
    assert find_player("wav", has_device=False, which=everything) is None


@pytest.mark.parametrize("name", ["pcmC0D0p", None])
def test_a_sound_card_with_an_output_is_a_device(tmp_path: Path, name: str | None) -> None:
    (tmp_path / "pcmC0D0c").touch()  # a microphone is not
    if name:
        (tmp_path / name).touch()
    assert has_audio_device({}, platform="linux", devices=tmp_path) is (name is not None)


def test_a_sound_server_is_a_device(tmp_path: Path) -> None:
    (tmp_path / "pulse").mkdir()
    (tmp_path / "pulse" / "native").touch()
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert has_audio_device(environ, platform="linux", devices=tmp_path / "none")


def test_a_player_hears_everything_before_finish_returns(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    code = f"import sys, pathlib; pathlib.Path({str(heard)!r}).write_bytes(sys.stdin.buffer.read())"
    with playing(python(code)) as playback:
        playback.feed(b"one ")
        playback.feed(b"two")
        playback.finish()
    assert heard.read_bytes() == b"one two"


def test_a_player_that_dies_takes_no_more_and_says_so_at_the_end() -> None:
    with playing(python("import sys; sys.exit(3)")) as playback:
        for _ in range(64):
            playback.feed(bytes(65536))  # more than any pipe holds
        with pytest.raises(PlaybackFailed):
            playback.finish()


def test_leaving_early_stops_the_player() -> None:
    with (
        pytest.raises(RuntimeError),
        playing(python("import sys; sys.stdin.read(); sys.stdin.read()")),
    ):
        raise RuntimeError


def test_a_player_that_cannot_be_started_has_failed(tmp_path: Path) -> None:
    nothing = Player("nothing", (str(tmp_path / "nothing"),), ("wav",))
    with pytest.raises(PlaybackFailed), playing(nothing):
        pass
    with pytest.raises(PlaybackFailed):
        play_file(nothing, tmp_path)
