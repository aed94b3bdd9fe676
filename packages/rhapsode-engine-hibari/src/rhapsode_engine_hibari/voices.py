"""Hibari's voices: which of them this machine has, and what each depends on."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from rhapsode_contract import UnknownVoice, Unsupported, Voice

from rhapsode_engine_hibari.library import Registered, register, weights_path


@dataclass(frozen=True)
class HibariVoice:
    """A voice whose weights are on this machine, whole."""

    id: str

    registered: Registered

    @property
    def language(self) -> str:
        """`en-US` or `en-GB`."""
        return self.registered["language"]

    @property
    def is_british(self) -> bool:
        """Which of the two sets of pronunciations it was trained on."""
        return self.registered["british"]

    def listed(self) -> Voice:
        """Returns the voice as a client sees it."""
        gender = self.registered["gender"]
        return Voice(
            id=self.id,
            label=self.id.capitalize(),
            description=f"{self.registered['accent']} English, {gender}",
            spec=f"{self.id}-{self._rendering()}",
            tags=(self.language, gender),
        )

    def _rendering(self) -> str:
        # Weights make the sound, the library the phonemes, the adapter the wording and the level.
        parts = (
            self.registered["sha256"],
            version("hibari-tts"),
            version("rhapsode-engine-hibari"),
        )
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def voices_here() -> dict[str, HibariVoice]:
    """Returns the voices by id, the library's default first; never opens a connection.

    The library would fetch a voice that is not here as soon as it is named, so only files that are
    there and have the contents that its register names are offered.
    """
    return {name: HibariVoice(name, entry) for name, entry in register().items() if _is_here(name)}


def chosen(
    voices: Mapping[str, HibariVoice], name: str | None, language: str | None
) -> HibariVoice:
    """Returns the voice to speak with.

    Args:
        voices: Those that are here, the default first; at least one.
        name: The one asked for, or None for the first that speaks `language`.
        language: None and `en` are spoken by all of them.

    Raises:
        UnknownVoice: There is none of that name.
        Unsupported: It does not speak that language.
    """
    if name is not None and name not in voices:
        raise UnknownVoice(
            f"voice: there is no {name!r}; there are {', '.join(voices)}", field="voice"
        )
    asked = [voices[name]] if name is not None else list(voices.values())
    for voice in asked:
        if language in (None, "en", voice.language):
            return voice
    raise Unsupported(
        f"language: {language} is not spoken by {', '.join(voice.id for voice in asked)}",
        field="language",
    )


def _is_here(name: str) -> bool:
    try:
        path = weights_path(name)
        status = path.stat()
    except OSError:
        return False
    # The size first: it is free, and tells a broken download.
    entry = register()[name]
    return status.st_size == entry["bytes"] and (
        _sha256_of(path, status.st_size, status.st_mtime_ns) == entry["sha256"]
    )


@lru_cache(maxsize=16)
def _sha256_of(path: Path, size: int, modified_ns: int) -> str:
    """Returns the digest of a file; read again only if it was written to."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
