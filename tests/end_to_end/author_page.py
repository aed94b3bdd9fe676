"""The programs of docs/writing-an-engine.md, as a reader would type them in and run them."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .served import ROOT
from .typed_in import typed_in

AUTHOR_PAGE: Final = ROOT / "docs" / "writing-an-engine.md"

PROGRAMS: Final = ("first.py", "buzz.py", "legato.py", "swarm.py")
"""What we call them, in the page's order; it has the second in place of the first."""

_STOP_SECONDS: Final = 30


def blocks(page: Path, language: str) -> list[str]:
    """Returns the contents of a page's code blocks of one language."""
    return blocks_of(page.read_text(encoding="utf-8"), language)


def blocks_of(text: str, language: str) -> list[str]:
    """Returns the contents of the code blocks of one language in a piece of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def programs() -> dict[str, str]:
    """Returns the page's whole programs, by the names of `PROGRAMS`."""
    whole = [block for block in blocks(AUTHOR_PAGE, "python") if is_program(block)]
    return dict(zip(PROGRAMS, whole, strict=True))


def steps() -> dict[int, str]:
    """Returns the program as it stands after each step, by the step's number."""
    text = AUTHOR_PAGE.read_text(encoding="utf-8").partition("\n## The whole program\n")[0]
    typed: dict[int, str] = {}
    program = ""
    for number, step in re.findall(r"^## (\d)\. (.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL):
        for piece in blocks_of(step, "python"):
            program = piece if is_program(piece) else typed_in(program, piece)
        typed[int(number)] = program
    return typed


def is_program(block: str) -> bool:
    """Whether a block of Python is a worker, and not a step towards one."""
    return "\n    serve(" in block


def write_programs(folder: Path) -> None:
    """Writes the page's programs side by side into a folder."""
    for name, text in programs().items():
        (folder / name).write_text(text, encoding="utf-8")


@contextmanager
def working(program: Path) -> Generator[str]:
    """Runs a worker by hand, as the page says, its files beside it; yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, program],
        env=os.environ
        | {
            "RHAPSODE_WORKER_LISTEN": f"tcp:127.0.0.1:{port}",
            "RHAPSODE_VOICE_DIR": str(program.with_suffix(".voices")),
            "RHAPSODE_WEIGHTS_DIR": str(program.with_suffix(".weights")),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        assert b'"ready":true' in process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)
        process.stdout.close()
