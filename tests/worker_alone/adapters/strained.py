"""Tones on a device that has no memory for the first load, nor for the first text."""

from collections.abc import Generator
from itertools import count

from rhapsode_engine_tone import ToneEngine
from rhapsode_worker import SpeakRequest, serve

_TRIES_OF_A_LOAD = 2


class Strained(ToneEngine):
    """Fails as torch does, by an error of another name that says what it is."""

    id = "strained"

    def __init__(self) -> None:
        self._loads = count()
        self._texts = count()

    def load(self, variant: str) -> None:
        if next(self._loads) < _TRIES_OF_A_LOAD:
            raise MemoryError
        super().load(variant)

    def speak(self, req: SpeakRequest) -> Generator[bytes, None, None]:
        if next(self._texts) == 0:
            raise RuntimeError("CUDA error: out of memory")
        yield from super().speak(req)


if __name__ == "__main__":
    serve(Strained())
