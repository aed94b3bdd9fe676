"""kokoro-onnx without a server, called sentence by sentence: `library.py GRAPH VOICES VOICE`.

Reads a text, or a list of texts to speak at once, as JSON lines; says how long each took. Run by
the Python of a virtualenv of its own, which has nothing of ours.
"""
# kokoro-onnx is in no environment of ours.
# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import json
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from kokoro_onnx import Kokoro

_RATE_HZ = 24_000


class Library:
    """The library with its own settings, loaded."""

    def __init__(self, graph: str, voices: str, voice: str) -> None:
        self._kokoro = Kokoro(graph, voices)
        self._voice = voice

    def speak(self, text: str) -> dict[str, float]:
        """Returns seconds to the first audio and in all, and the number of samples."""
        begun = time.perf_counter()
        first = 0.0
        samples = 0
        for sentence in filter(None, re.split(r"(?<=[.!?])\s+", text)):
            audio, _ = self._kokoro.create(sentence, voice=self._voice)
            first = first or time.perf_counter() - begun
            samples += len(audio)
        return {"first": first, "total": time.perf_counter() - begun, "samples": samples}


def main(graph: str, voices: str, voice: str) -> None:
    """Answers each line until there are no more."""
    library = Library(graph, voices, voice)
    library.speak("Hello.")
    print(json.dumps({"rate": _RATE_HZ}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, str):
            answer = library.speak(asked)
        else:
            begun = time.perf_counter()
            with ThreadPoolExecutor(len(asked)) as threads:
                spoken = list(threads.map(library.speak, asked))
            answer = {"total": time.perf_counter() - begun, "spoken": spoken}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
