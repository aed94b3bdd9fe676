"""A text as notes: every length is settled here, before a sample exists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rhapsode_contract import find_cues

MS_PER_CHARACTER: Final = 60
"""What a code point outside a cue lasts at speed 1, sound or silence."""

MS_PER_CUE: Final = 300

_RUN = re.compile(r"(\w+)|(\W+)")


@dataclass(frozen=True)
class Note:
    """A stretch of one tone, or of silence."""

    milliseconds: float

    cue: str | None = None
    """The cue it performs; None for a word or a silence."""

    is_silent: bool = False


def notes_of(text: str, *, speed: float = 1.0) -> Iterator[Note]:
    """Yields the notes of `text`: a tone for a word, a silence between, a sound for a cue."""
    at = 0
    for placed in find_cues(text):
        yield from _words(text[at : placed.start], speed)
        yield Note(MS_PER_CUE / speed, cue=placed.cue)
        at = placed.end
    yield from _words(text[at:], speed)


def milliseconds_of(text: str, *, speed: float = 1.0) -> float:
    """Returns how long `text` sounds."""
    return sum(note.milliseconds for note in notes_of(text, speed=speed))


def _words(text: str, speed: float) -> Iterator[Note]:
    for match in _RUN.finditer(text):
        length = len(match[0]) * MS_PER_CHARACTER / speed
        yield Note(length, is_silent=match[1] is None)
