"""An engine that does what a test tells it, and remembers what it was asked."""

import math
import threading
from array import array
from collections.abc import Callable, Iterator

from rhapsode_contract import Voice
from rhapsode_worker.devices import Device
from rhapsode_worker.engine import Engine, LicenseFields
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.variant import Variant

SECONDS = 10
"""A bound on every wait in an engine, for when a test fails; nothing takes this long."""

MS_PER_CHARACTER = 50

VOICES = {"ann": 440, "anna": 550, "bert": 220, "zoe": 330}

Score = Callable[[SpeakRequest], Iterator[bytes]]
"""What `speak` does with a request."""


def tone(
    request: SpeakRequest, native: NativeFormat | None = None, hertz: int | None = None
) -> bytes:
    """Returns a sine that only this request sounds like, longer the longer its text."""
    native = native or NativeFormat()
    frames = native.sample_rate * MS_PER_CHARACTER * len(request.text) // 1000
    hertz = (hertz or VOICES[request.voice or "ann"]) + (request.seed or 0) % 97
    step = 2 * math.pi * hertz / native.sample_rate
    mono = array("h", [round(9000 * math.sin(step * frame)) for frame in range(frames)])
    samples = array("h", bytes(2 * frames * native.channels))
    for channel in range(native.channels):
        samples[channel :: native.channels] = mono
    return samples.tobytes()


class Player(Engine):
    """Plays what its score says; a tone for every text where nobody says."""

    id = "player"
    display_name = "Player"
    license = LicenseFields(code="MIT", weights="none", weights_commercial_use=True)
    native_format = NativeFormat()
    device = Device("cpu", "a processor")

    def __init__(self, score: Score | None = None) -> None:
        self.score: Score = score or self.play
        self.on_load: Callable[[str], None] = lambda _: None
        self.on_voices: Callable[[], None] = lambda: None
        self.events: list[str] = []
        self.threads: set[str] = set()

    def variants(self) -> dict[str, Variant]:
        return {
            "plain": Variant(max_characters=60),
            "dialled": Variant(
                cues=["laugh"],
                deliveries=["hushed"],
                dials={"speed": (0.5, 2.0, 1.0)},
                languages=["en", "fr"],
            ),
            "stereo": Variant(native_format=NativeFormat(sample_rate=22_050, channels=2)),
        }

    def load(self, variant: str) -> None:
        self._note(f"load {variant}")
        self.on_load(variant)

    def unload(self) -> None:
        self._note("unload")

    def voices(self) -> list[Voice]:
        self.on_voices()
        return [Voice(id=name, label=name.title(), spec=f"{name}@1") for name in VOICES]

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        self._note(f"speak {req.text}")
        return self.score(req)

    def play(self, request: SpeakRequest) -> Iterator[bytes]:
        """Plays the tone of a request in tenths of a second."""
        native = self.variants()[request.variant].native_format or self.native_format
        pcm = tone(request, native)
        step = native.bytes_per_second // 10
        for start in range(0, len(pcm), step):
            yield pcm[start : start + step]

    def _note(self, event: str) -> None:
        self.events.append(event)
        self.threads.add(threading.current_thread().name)


class Latch:
    """Holds an engine's thread in a place until a test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._opened = threading.Event()

    def hold(self) -> None:
        """Called by the engine."""
        self.reached.set()
        assert self._opened.wait(SECONDS), "nobody opened the latch"

    def open(self) -> None:
        """Called by the test."""
        self._opened.set()
