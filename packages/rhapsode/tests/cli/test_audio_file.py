"""A file of audio is whole or absent."""

import os
import threading
import wave
from pathlib import Path

import pytest
from rhapsode.cli.audio_file import whole_file


def streamed_wav(samples: int) -> bytes:
    """Returns mono audio at 8 kHz whose header could not know its sizes."""
    unknown = b"\xff\xff\xff\xff"
    rates = (8000).to_bytes(4, "little") + (16000).to_bytes(4, "little")
    fmt = b"fmt " + (16).to_bytes(4, "little") + b"\x01\x00\x01\x00" + rates + b"\x02\x00\x10\x00"
    return b"RIFF" + unknown + b"WAVE" + fmt + b"data" + unknown + bytes(2 * samples)


def test_a_block_that_ends_well_leaves_the_file_and_nothing_else(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a.mp3") as file:
        file.write(b"audio")
        assert not (tmp_path / "a.mp3").exists()
    assert (tmp_path / "a.mp3").read_bytes() == b"audio"
    assert os.listdir(tmp_path) == ["a.mp3"]


def test_a_block_that_fails_leaves_what_was_there_before(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "a.wav") as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert (tmp_path / "a.wav").read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["a.wav"]


def test_a_streamed_wav_gets_its_sizes(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a.wav") as file:
        file.write(streamed_wav(samples=4000))
    with wave.open(str(tmp_path / "a.wav")) as audio:
        assert audio.getnframes() == 4000
    assert int.from_bytes((tmp_path / "a.wav").read_bytes()[4:8], "little") == 36 + 8000


def test_the_file_has_the_mode_of_any_other_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    with whole_file(tmp_path / "a.wav") as file:
        file.write(b"audio")
    assert (tmp_path / "a.wav").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "a.mp3"
    link.symlink_to(tmp_path / "elsewhere" / "b.mp3")
    with whole_file(link) as file:
        file.write(b"audio")
    assert link.is_symlink()
    assert (tmp_path / "elsewhere" / "b.mp3").read_bytes() == b"audio"


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(OSError) as refused, whole_file(tmp_path / "none" / "a.mp3"):
        pass
    assert refused.value.filename == str(tmp_path / "none" / "a.mp3")


def test_a_link_that_leads_to_itself_is_an_error_and_stays(tmp_path: Path) -> None:
    link = tmp_path / "a.mp3"
    link.symlink_to(link)
    with pytest.raises(OSError), whole_file(link):
        pass
    assert link.is_symlink()


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with whole_file(pipe) as file:
        file.write(b"audio")
    reader.join(10)
    assert heard == [b"audio"]
    assert pipe.is_fifo()
