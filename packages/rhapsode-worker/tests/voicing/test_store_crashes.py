"""A process killed between any two of its file operations leaves a store that reads well."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

OLD = ["narrator", "narrator.wav", "Old", "Old words."]
NEW = ["narrator", "narrator.wav", "New", None]
NEW_TYPE = ["narrator", "narrator.flac", "New", None]


Life = tuple[bool, list[list[str]], list[list[str]], list[str]]


@pytest.fixture(scope="module")
def lives_of() -> dict[str, list[Life]]:
    """What `crashing.py` found, by scenario."""
    # In memory where that can be: a killed process loses nothing that it gave to the system, so
    # this needs no disk, and each of its many syncs would wait for one.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        done = subprocess.run(
            [sys.executable, Path(__file__).parent / "crashing.py", Path(folder) / "voices"],
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    written: dict[str, list[Any]] = json.loads(done.stdout)
    return {scenario: [tuple(life) for life in lives] for scenario, lives in written.items()}


@pytest.mark.parametrize(
    ("scenario", "before", "after"),
    [
        ("first", [], [NEW]),
        ("create", [], [NEW]),
        ("replace", [OLD], [NEW]),
        ("relabel", [OLD], [NEW]),
        ("retype", [OLD], [NEW_TYPE]),
        ("delete", [OLD], []),
    ],
)
def test_a_process_killed_at_any_moment_leaves_the_old_voice_or_the_new_one(
    lives_of: dict[str, list[Life]], scenario: str, before: list[list[str]], after: list[list[str]]
) -> None:
    lives = lives_of[scenario]
    assert len(lives) > 5
    for _, found, swept, files in lives:
        assert found in (before, after)
        assert swept in (before, after)
        # A voice is two files, and nothing else is left.
        assert len(files) == 2 * len(swept)
    outcomes = [swept == after for _, _, swept, _ in lives]
    assert outcomes == sorted(outcomes), "once the new voice is there, it stays"
    assert lives[0][2] == before
    assert lives[-1][:3] == (True, after, after)
