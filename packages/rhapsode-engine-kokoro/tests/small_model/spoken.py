"""One utterance of the small model, for a process that is then looked at."""

from pathlib import Path

from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_worker.requests import SpeakRequest

from .release import small_release


def speak(folder: str) -> None:
    """Fetches, loads and speaks; keeps everything in `folder`."""
    engine = KokoroEngine({}, small_release())
    engine.voice_dir = Path(folder) / "voices"
    engine.weights_dir = Path(folder) / "weights"
    engine.load("fp16")
    b"".join(engine.speak(SpeakRequest("Hello, zxqvyblorn.", "fp16")))
