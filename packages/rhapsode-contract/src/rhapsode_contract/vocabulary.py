"""The words that mean the same on every engine (contract § 5)."""

from typing import Final, Literal, TypeAlias

Cue: TypeAlias = Literal[
    "laugh", "chuckle", "sigh", "gasp", "cough", "clear throat", "sniff", "groan"
]
"""Something a speaker does that is not a word. It rides in the text, written `[laugh]`."""

CUES: Final[tuple[Cue, ...]] = (
    "laugh",
    "chuckle",
    "sigh",
    "gasp",
    "cough",
    "clear throat",
    "sniff",
    "groan",
)

Delivery: TypeAlias = Literal["hushed", "frantic"]
"""How a whole line is read; an ordinary reading has no word."""

DELIVERIES: Final[tuple[Delivery, ...]] = ("hushed", "frantic")

Format: TypeAlias = Literal["wav", "mp3", "opus", "flac", "pcm"]
"""An encoding that this contract describes; a worker says which of them it has."""

FORMATS: Final[tuple[Format, ...]] = ("wav", "mp3", "opus", "flac", "pcm")

MAX_CHARACTERS_DEFAULT: Final = 4096
"""What `maxCharacters` is where a variant does not say."""
