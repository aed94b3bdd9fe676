"""Tones on a device that is lost at the first text, and for good."""

from collections.abc import Generator

from rhapsode_engine_tone import ToneEngine
from rhapsode_worker import SpeakRequest, serve


class Lost(ToneEngine):
    """Fails as torch does once a kernel has failed: from then on, whatever is asked of the card."""

    id = "lost"

    def speak(self, req: SpeakRequest) -> Generator[bytes, None, None]:
        raise RuntimeError("CUDA error: device-side assert triggered")
        yield b""


if __name__ == "__main__":
    serve(Lost())
