"""A worker whose audio costs nothing: what is left to measure is the way to the client.

Its samples are made before it serves. Of a `paced` utterance each piece begins with the moment it
was made, so that a reader on the same machine can tell how long it was on its way.
"""

import os
import threading
import time
from collections.abc import Iterator

from rhapsode_worker import Engine, NativeFormat, SpeakRequest, Variant, Voice, serve

PIECE_BYTES = 4_800
"""A tenth of a second."""

PIECE_SECONDS = 0.1
STAMP_BYTES = 8
"""Of a paced piece: `time.monotonic_ns()`, little-endian."""

SMALL_BYTES = PIECE_BYTES
LARGE_BYTES = 2_000_000
PACED_PIECES = 50


class PreparedEngine(Engine):
    """Yields prepared samples: `small` and `large` at once, `paced` in real time."""

    id = "prepared"
    display_name = "Prepared"
    license = {"code": "MIT", "weights": "none", "weights_commercial_use": True}
    native_format = NativeFormat(encoding="pcm_s16le", sample_rate=24_000, channels=1)
    device_types = ("cpu",)
    concurrency = 256

    def __init__(self) -> None:
        self._small = bytes(SMALL_BYTES)
        self._large = bytes(LARGE_BYTES)
        self._never = threading.Event()

    def variants(self) -> dict[str, Variant]:
        """One, which can do nothing."""
        return {"prepared": Variant()}

    def load(self, variant: str) -> None:
        """There is nothing to load."""

    def unload(self) -> None:
        """There is nothing to unload."""

    def voices(self) -> list[Voice]:
        """The three lengths."""
        return [Voice(id=name, label=name, spec=name) for name in ("small", "large", "paced")]

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        """Yields the samples of the length that the voice names."""
        if req.voice == "large":
            yield self._large
        elif req.voice == "paced":
            yield from self._paced()
        else:
            yield self._small

    def _paced(self) -> Iterator[bytes]:
        begun = time.monotonic()
        rest = bytes(PIECE_BYTES - STAMP_BYTES)
        for number in range(PACED_PIECES):
            self._never.wait(begun + number * PIECE_SECONDS - time.monotonic())
            yield time.monotonic_ns().to_bytes(STAMP_BYTES, "little") + rest


if __name__ == "__main__":
    PreparedEngine.id = os.environ.get("RHAPSODE_WORKER_ENGINE", PreparedEngine.id)
    serve(PreparedEngine())
