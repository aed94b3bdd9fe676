"""Formats with something in them, by libsndfile."""

from functools import lru_cache
from io import BytesIO
from typing import Final

from .tones import RATE_HZ

_FORMATS: Final = {
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "opus": ("OGG", "OPUS"),
    "flac": ("FLAC", "PCM_16"),
}


@lru_cache(maxsize=256)
def encoded(form: str, pcm: bytes) -> bytes:
    """Returns mono samples in `mp3`, `opus` or `flac`."""
    # Only here: a process without site-packages needs it where it is asked for one of these.
    import soundfile  # pyright: ignore[reportMissingTypeStubs]

    container, codec = _FORMATS[form]
    body = BytesIO()
    with soundfile.SoundFile(body, "w", RATE_HZ, 1, format=container, subtype=codec) as file:
        file.buffer_write(pcm, dtype="int16")
    return body.getvalue()
