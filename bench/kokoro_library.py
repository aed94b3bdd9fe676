"""Kokoro without a server: onnxruntime alone, called sentence by sentence.

Reads texts as JSON lines, says how long each took. `python kokoro_library.py GRAPH VOICES`; of
ours it takes the table of phonemes and the place of the voice in the file, and nothing else.
"""
# hibari and onnxruntime have no types, or not all of them.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import json
import re
import sys
import time
from collections.abc import Iterator

import numpy as np
import onnxruntime
from hibari.g2p import G2P
from rhapsode_engine_kokoro.alphabet import NUMBERS
from rhapsode_engine_kokoro.roster import DEFAULT, NAMES


class Library:
    """The model as its maker's library runs it: onnxruntime's own threads and settings."""

    def __init__(self, graph: str, voices: str) -> None:
        self._session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
        styles = np.fromfile(voices, "<f4").reshape(len(NAMES), -1, 256)
        self._styles = styles[NAMES.index(DEFAULT)]
        self._pronounce = G2P()

    def stream(self, text: str) -> Iterator[int]:
        """Yields how many samples each sentence has."""
        for sentence in filter(None, re.split(r"(?<=[.!?])\s+", text)):
            phonemes = str(self._pronounce(sentence))
            numbers = [NUMBERS[symbol] for symbol in phonemes if symbol in NUMBERS]
            inputs = {
                "tokens": np.array([[0, *numbers, 0]]),
                "style": self._styles[len(numbers) - 1][None],
                "speed": np.ones(1, np.float32),
            }
            yield len(np.asarray(self._session.run(None, inputs)[0]))


def main(graph: str, voices: str) -> None:
    """Answers each line until there are no more."""
    library = Library(graph, voices)
    list(library.stream("Hello."))
    print(json.dumps({"rate": 24_000}), flush=True)
    for line in sys.stdin:
        begun = time.perf_counter()
        first = 0.0
        samples = 0
        for count in library.stream(json.loads(line)):
            first = first or time.perf_counter() - begun
            samples += count
        took = time.perf_counter() - begun
        print(json.dumps({"first": first, "total": took, "samples": samples}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
