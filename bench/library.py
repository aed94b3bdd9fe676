"""A library without a server, in a process of its own, and the same texts through the server."""

import json
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rhapsode_http import Client

from bench.asking import Answer, ask
from bench.figures import summary

BYTES_A_SAMPLE: Final = 2


class Library:
    """The library in a process of its own, asked over a pipe; it keeps the time itself."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Returns when its model is loaded."""
        self._process = process
        self.rate: int = self._read()["rate"]

    def speak(self, text: str) -> dict[str, float]:
        """Returns seconds to the first audio and in all, and the number of samples."""
        return self._ask(text)

    def speak_at_once(self, texts: Sequence[str]) -> dict[str, Any]:
        """Returns the seconds in all, and of each text what `speak` does; not every program can."""
        return self._ask(list(texts))

    def _ask(self, question: str | list[str]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the library ended; its error is above")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def library_process(command: Sequence[str | Path]) -> Generator[Library]:
    """Runs a library for the length of a block.

    Args:
        command: A program that reads texts as JSON lines and says how long each took.
    """
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Library(process)
    finally:
        process.communicate()


async def compare(
    library: Library,
    client: Client,
    body: Mapping[str, Any],
    rounds: int,
    *,
    warm_rounds: int,
    answers: list[Answer] | None = None,
) -> dict[str, Any]:
    """Asks both in turn: seconds to the first audio, and to the last.

    Times of the same text are compared, not audio seconds a second: an engine cuts silence that
    its library leaves, so it has less audio to show for the same work.

    Args:
        library: Asked for the text of `body`.
        client: Of the server.
        body: What the server is asked.
        rounds: Counted ones.
        warm_rounds: Those before them.
        answers: Gets the server's answers, their pieces kept, where somebody looks at them.
    """
    first: dict[str, list[float]] = {"library": [], "server": []}
    total: dict[str, list[float]] = {"library": [], "server": []}
    audio: dict[str, float] = {}
    for number in range(rounds + warm_rounds):
        alone = library.speak(body["text"])
        served = await ask(client, body, keeps_pieces=answers is not None)
        if number < warm_rounds:
            continue
        first["library"].append(alone["first"])
        first["server"].append(served.first_byte_seconds)
        total["library"].append(alone["total"])
        total["server"].append(served.total_seconds)
        audio["library"] = alone["samples"] / library.rate
        audio["server"] = served.size / BYTES_A_SAMPLE / library.rate
        if answers is not None:
            answers.append(served)
    return {
        "first audio": {name: summary(samples) for name, samples in first.items()},
        "total": {name: summary(samples) for name, samples in total.items()},
        "audio seconds": audio,
    }
