"""Cuts within a part: between the letters of scripts that write no spaces, and around cues."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from rhapsode_worker.segmenting.scripts import NEVER_FIRST, NEVER_LAST, UNSPACED
from rhapsode_worker.segmenting.shadow import CUE_FILL, CUE_START, Shadow

# A Burmese consonant that is stacked or killed closes the syllable before it.
_PLACE = re.compile(
    rf"(?<![\s{NEVER_LAST}])(?![\s{NEVER_FIRST}]|[\u1000-\u1021]\u1037?[\u1039\u103a])"
    rf"(?:(?<!\d)(?=[{UNSPACED}])|(?<=[{UNSPACED}]))"
)
_CUE_PLACE = re.compile(rf"(?<=[{CUE_FILL}])(?=[^\W_]|{CUE_START})|(?<=[^\W_])(?={CUE_START})")
_ANY_PLACE = re.compile(f"{_PLACE.pattern}|{_CUE_PLACE.pattern}")
_LOOKED_AHEAD: Final = 3
"""Characters after a place that its rules look at."""

_WINDOW: Final = 64
"""Characters that are searched at once for the last place within them."""

_MAY_CUT = re.compile(rf"[{UNSPACED}{CUE_FILL}]")
_SPEECH = re.compile(rf"[^\W_]|[{CUE_FILL}]")
# Where a vowel is written before its consonant, a syllable of Thai or Lao begins for certain.
_SYLLABLE = re.compile(r"[\u0e40-\u0e44\u0ec0-\u0ec4]")
_SYLLABLE_CHARACTERS: Final = 6
"""How far back such a place is looked for."""


def last_cut(shadow: Shadow, start: int, reach: int, end: int) -> int:
    """Returns where to cut the part of a text from `start` to `end`; `end` where nothing allows it.

    That is the last place up to `reach`, else the first one after it: a word stays whole.
    """
    text = shadow.text
    speech = _SPEECH.search(text, start, end)
    if speech is None or not _MAY_CUT.search(text, start, end):
        return end
    # What is before the first letter is punctuation, and no piece of its own.
    start = speech.start()
    last = max(start, min(reach, end - 1))
    syllables = range(last, max(start, last - _SYLLABLE_CHARACTERS), -1)
    vowels = (at for at in syllables if _SYLLABLE.match(text, at) and _ANY_PLACE.match(text, at))
    for at in chain(vowels, _places_before(text, start, last)):
        if _SPEECH.search(text, at, end):
            return at
    for match in _ANY_PLACE.finditer(text, last + 1, end):
        if match.start() < end and _SPEECH.search(text, match.start(), end):
            return match.start()
    return end


def _places_before(text: str, start: int, last: int) -> Iterator[int]:
    """Yields the places after `start`, from `last` on backwards."""
    while last > start:
        first = max(start, last - _WINDOW) + 1
        places = [m.start() for m in _ANY_PLACE.finditer(text, first, last + _LOOKED_AHEAD)]
        yield from (place for place in reversed(places) if place <= last)
        last = first - 1
