"""What a body of audio really is: its container, read to its end."""

from collections.abc import Callable
from typing import Final

from rhapsode_conform.containers.container import Container, NotAudio
from rhapsode_conform.containers.flac import read_flac
from rhapsode_conform.containers.mp3 import read_mp3
from rhapsode_conform.containers.ogg import read_ogg_opus
from rhapsode_conform.containers.wav import Wav, read_wav

__all__ = ["READERS", "TYPES", "Container", "NotAudio", "Wav", "read_wav"]

READERS: Final[dict[str, Callable[[bytes], Container]]] = {
    "wav": read_wav,
    "mp3": read_mp3,
    "opus": read_ogg_opus,
    "flac": read_flac,
}
"""The reader of each format that has a container; each raises `NotAudio`."""

TYPES: Final = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/ogg": "opus",
    "audio/opus": "opus",
    "audio/flac": "flac",
    "audio/x-flac": "flac",
}
"""What a media type says that a body is; `audio/l16` is samples without a container."""
