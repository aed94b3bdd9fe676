"""What is true of every file that git has, or would take."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LONGEST_FILE_LINES = 600

# Spelt so that this file does not contain what it looks for.
FORBIDDEN = re.compile(
    "|".join(
        [
            r"pypi\.(?:org|python)",
            r"pythonhosted\.(?:org)",
            r"npmjs\.(?:org|com)",
            r"crates\.(?:io)",
            r"/(?:home|Users)/(?:[a-z])",
            r"/(?:root)/",
            r"/(?:work)/(?:main|shared)",
        ]
    )
)
"""Package indexes, whose address is the business of whoever installs; folders of one machine."""


def repository_files() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


FILES = repository_files()
PYTHON = [path for path in FILES if path.suffix == ".py"]
LOCKS = [path for path in FILES if re.fullmatch(r"constraints.*\.txt", path.name)]
SHELL = [path for path in FILES if path.parent in (ROOT / "script", ROOT / ".ci")]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def test_there_is_something_to_look_at() -> None:
    assert len(PYTHON) > 50
    assert len(LOCKS) >= 4
    assert len(SHELL) >= 7


def test_no_file_names_a_package_index_or_a_folder_of_one_machine() -> None:
    found = {
        str(path.relative_to(ROOT)): match.group()
        for path in FILES
        if (match := FORBIDDEN.search(text_of(path)))
    }
    assert found == {}


@pytest.mark.parametrize(
    "text", ["https://pypi" + ".org/simple", "/home" + "/me/x", "cd /root" + "/x"]
)
def test_the_search_finds_what_it_should(text: str) -> None:
    assert FORBIDDEN.search(text)


def test_no_python_file_is_longer_than_a_reader_can_bear() -> None:
    lines = {str(path.relative_to(ROOT)): text_of(path).count("\n") for path in PYTHON}
    assert {name: n for name, n in lines.items() if n > LONGEST_FILE_LINES} == {}


def test_locks_hold_names_versions_and_hashes_and_no_address() -> None:
    pin = r"[a-z0-9][a-z0-9._-]*==[^\s;]+( ; [^\\]+)? \\"
    entry = re.compile(rf"({pin}|    --hash=sha256:[0-9a-f]{{64}}( \\)?)")
    for lock in LOCKS:
        wrong = [line for line in text_of(lock).splitlines() if not entry.fullmatch(line)]
        assert wrong == [], lock


def test_no_two_locks_of_one_environment_pin_a_package_twice() -> None:
    names = [
        line.split("==")[0] + line.partition(" ; ")[2]
        for name in ("constraints.txt", "constraints-dev.txt")
        for line in text_of(ROOT / name).splitlines()
        if not line.startswith(" ")
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("path", SHELL, ids=lambda path: path.name)
def test_every_script_can_be_run_and_parses(path: Path) -> None:
    assert os.access(path, os.X_OK)
    shell = "bash" if text_of(path).startswith("#!/bin/bash") else "sh"
    assert subprocess.run([shell, "-n", path], check=False).returncode == 0
