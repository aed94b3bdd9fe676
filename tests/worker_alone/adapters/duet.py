"""Tones, two at once: each waits for the other before it begins."""

import threading
from collections.abc import Generator

from rhapsode_engine_tone import ToneEngine
from rhapsode_worker import SpeakRequest, serve

_PATIENCE_SECONDS = 30


class Duet(ToneEngine):
    """Speaks only in company."""

    id = "duet"
    concurrency = 2

    def __init__(self) -> None:
        self._together = threading.Barrier(2)

    def speak(self, req: SpeakRequest) -> Generator[bytes, None, None]:
        self._together.wait(_PATIENCE_SECONDS)
        yield from super().speak(req)


if __name__ == "__main__":
    serve(Duet())
