"""Hibari's voices: which of them this machine has, and what each depends on."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TypedDict, cast

from hibari.voices import VOICES, voice_path
from rhapsode_contract import UnknownVoice, Voice


class _Entry(TypedDict):
    """A voice as the library's own register describes it."""

    kokoro: str
    language: str
    accent: str
    gender: str
    bytes: int
    sha256: str
    british: bool


@dataclass(frozen=True)
class HibariVoice:
    """A voice whose weights are on this machine, whole."""

    id: str
    language: str
    """`en-US` or `en-GB`."""
    accent: str
    gender: str
    sha256: str
    """Of its weights."""
    is_british: bool
    """Which of the two sets of pronunciations it was trained on."""

    def listed(self) -> Voice:
        """Returns the voice as a client sees it."""
        return Voice(
            id=self.id,
            label=self.id.capitalize(),
            description=f"{self.accent} English, {self.gender}",
            spec=self._spec(),
            tags=(self.language, self.gender),
        )

    def _spec(self) -> str:
        # Weights make the sound, the library the phonemes, the adapter the wording and the level.
        rendering = f"{self.sha256} {version('hibari-tts')} {version('rhapsode-engine-hibari')}"
        return f"{self.id}-{hashlib.sha256(rendering.encode()).hexdigest()[:16]}"


def voices_here() -> dict[str, HibariVoice]:
    """Returns the voices by id, the library's default first; never opens a connection.

    The library would fetch a voice that is not here as soon as it is named, so only files that are
    there and have the contents that its register names are offered.
    """
    register = cast(Mapping[str, _Entry], VOICES)
    return {
        name: HibariVoice(
            id=name,
            language=entry["language"],
            accent=entry["accent"],
            gender=entry["gender"],
            sha256=entry["sha256"],
            is_british=entry["british"],
        )
        for name, entry in register.items()
        if _is_here(name, entry)
    }


def chosen(voices: Mapping[str, HibariVoice], name: str | None, language: str | None) -> str:
    """Returns the id of the voice to speak with.

    Args:
        voices: Those that are here, the default first.
        name: The one asked for, or None for any that speaks `language`.
        language: `en` is spoken by all of them.

    Raises:
        UnknownVoice: There is none of that name, or it does not speak that language.
    """
    fitting = [v.id for v in voices.values() if language in (None, "en", v.language)]
    if name is None and fitting:
        return fitting[0]
    if name in fitting:
        return name
    asked = f"there is no {name!r}" if name not in voices else f"{name!r} does not speak {language}"
    raise UnknownVoice(f"voice: {asked}; there are {', '.join(fitting)}", field="voice")


def _is_here(name: str, entry: _Entry) -> bool:
    try:
        path = Path(voice_path(name, download_missing=False))
        status = path.stat()
    except OSError:
        return False
    # The size first: it is free, and tells a broken download.
    return status.st_size == entry["bytes"] and (
        _sha256_of(path, status.st_size, status.st_mtime_ns) == entry["sha256"]
    )


@lru_cache(maxsize=16)
def _sha256_of(path: Path, size: int, modified_ns: int) -> str:
    """Returns the digest of a file; read again only if it was written to."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
