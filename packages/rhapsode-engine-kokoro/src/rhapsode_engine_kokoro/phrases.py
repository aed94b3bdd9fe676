"""What the model is given, one generation at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from rhapsode_worker.reading import Breath, breaths_of, sentences_of
from rhapsode_worker.segmenting import Joint, split

SEGMENT_CHARACTERS: Final = 200

FIRST_SEGMENT_CHARACTERS: Final = 32
"""Two seconds of speech, so that the first sound takes as long as those take to make."""

JOINT_SILENCE_MS: Final = 250

_MOST_PHONEMES: Final = 250
"""What 200 characters of ordinary English make, and a quarter more. Time and memory grow with it,
and two hundred digits would make twelve hundred."""

_LEAST_CHARACTERS: Final = 30
"""What is cut off at a word and is shorter stays with what it was cut from: of a word or two alone
the model makes something that nobody understands."""

_PAUSES: Final = {"clause": Joint.CLAUSE, "word": Joint.WORD}

_PARAGRAPH: Final = "\n\n"
_ENDS: Final = tuple(".!?…:;,—")
_CLOSING: Final = '"”)’ '


@dataclass(frozen=True)
class Phrase:
    """One generation."""

    phonemes: str
    """Never empty, never punctuation alone."""

    pause_ms: int
    """The silence before it; 0 before the first."""


PhonemesOf = Callable[[str], str]
"""From a sentence, or a piece of one, to its phonemes, punctuation among them; empty if it has
none. Called on the engine's thread."""


def phrases_of(text: str, phonemes_of: PhonemesOf, language: str = "en-US") -> Iterator[Phrase]:
    """Yields `text` as the model speaks it; nothing where nothing in it can be pronounced.

    The text is read whole before it is split: markup and addresses may be longer than a segment,
    and half a tag would be read aloud.

    Args:
        text: As it came.
        phonemes_of: How its language is said.
        language: Its BCP 47 tag.
    """
    pause_ms = 0.0
    language = language.partition("-")[0]
    for segment, after in _segments(_PARAGRAPH.join(sentences_of(text, language)), language):
        for breath in _breaths(segment, phonemes_of):
            yield Phrase(breath.phonemes, round(pause_ms))
            pause_ms = _PAUSES.get(breath.ending, after).silence_ms(JOINT_SILENCE_MS)


def _segments(text: str, language: str) -> Iterator[tuple[str, Joint]]:
    """Yields each segment, and how it meets the next one."""
    held, after = "", Joint.SENTENCE
    for segment in split(
        text, SEGMENT_CHARACTERS, first_limit=FIRST_SEGMENT_CHARACTERS, language=language
    ):
        if held and segment.before is Joint.WORD and len(segment.text) < _LEAST_CHARACTERS:
            held = f"{held} {segment.text}"
        else:
            if held:
                yield held, after
            held = segment.text
        after = segment.after or Joint.SENTENCE
    if held:
        yield held, after


def _breaths(segment: str, phonemes_of: PhonemesOf) -> Iterator[Breath]:
    sentences = [said for part in segment.split(_PARAGRAPH) if (said := phonemes_of(part).strip())]
    # A heading or an item of a list ends without a mark, and would run into what follows.
    *before, last = sentences or [""]
    return breaths_of(" ".join([*map(_ended, before), last]), _MOST_PHONEMES)


def _ended(phonemes: str) -> str:
    return phonemes if phonemes.rstrip(_CLOSING).endswith(_ENDS) else f"{phonemes}."
