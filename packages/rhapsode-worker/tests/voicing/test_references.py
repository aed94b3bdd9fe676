"""Which file is which voice, and what it holds."""

import time
from pathlib import Path

from rhapsode_worker.voicing.folder import Folder
from rhapsode_worker.voicing.references import References


def tomorrow() -> int:
    return time.time_ns() + 86_400 * 10**9


def test_of_several_files_of_a_voice_the_first_is_served() -> None:
    references = References(["wav", "flac"])
    names = ["a.flac", "a.wav", "b.WAV", "c.mp3", "d", "e.f.wav", "notes.txt"]
    assert references.served(names) == {"a": "a.flac", "b": "b.WAV"}
    assert references.all_of("a", reversed(names)) == ["a.flac", "a.wav"]


def test_a_file_that_changes_is_hashed_again(tmp_path: Path) -> None:
    for references in (References(["wav"]), References(["wav"], now_ns=tomorrow)):
        with Folder.open(tmp_path) as folder:
            digests: list[str] = []
            for contents in (b"one", b"three", b"seventeen"):
                (tmp_path / "a.wav").write_bytes(contents)
                digests += [references.digest(folder, "a.wav"), references.digest(folder, "a.wav")]
            assert digests[::2] == digests[1::2]
            assert len(set(digests)) == 3
            references.forget_all_but([])
            assert references.digest(folder, "a.wav") == digests[-1]
