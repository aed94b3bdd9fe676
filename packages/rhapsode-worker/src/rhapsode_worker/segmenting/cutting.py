"""Cuts within a part: between the letters of scripts that write no spaces, and around cues."""

import re
from itertools import chain
from typing import Final

from rhapsode_worker.segmenting.scripts import NEVER_FIRST, NEVER_LAST, UNSPACED
from rhapsode_worker.segmenting.shadow import CUE_FILL, Shadow

# A Burmese consonant that is stacked or killed closes the syllable before it.
_PLACE = re.compile(
    rf"(?<![\s{NEVER_LAST}])(?![\s{NEVER_FIRST}]|[\u1000-\u1021]\u1037?[\u1039\u103a])"
    rf"(?:(?<!\d)(?=[{UNSPACED}])|(?<=[{UNSPACED}]))"
)
_CUE_PLACE = re.compile(rf"(?<={CUE_FILL})(?=[^\W_]|{CUE_FILL})|(?<=[^\W_])(?={CUE_FILL})")
_ANY_PLACE = re.compile(f"{_PLACE.pattern}|{_CUE_PLACE.pattern}")
_MAY_CUT = re.compile(rf"[{UNSPACED}{CUE_FILL}]")
_SPEECH = re.compile(rf"[^\W_]|{CUE_FILL}")
# Where a vowel is written before its consonant, a syllable of Thai or Lao begins for certain.
_SYLLABLE = re.compile(r"[\u0e40-\u0e44\u0ec0-\u0ec4]")
_SYLLABLE_CHARACTERS: Final = 6
"""How far back such a place is looked for."""


def last_cut(shadow: Shadow, start: int, reach: int, end: int) -> int:
    """Returns where to cut the part of a text from `start` to `end`; `end` where nothing allows it.

    That is the last place up to `reach`, else the first one after it: a word stays whole.
    """
    speech = _SPEECH.search(shadow.text, start, end)
    if speech is None or not _MAY_CUT.search(shadow.text, start, end):
        return end
    # What is before the first letter is punctuation, and no piece of its own.
    start = speech.start()
    last = max(start, min(reach, end - 1))
    syllables = range(last, max(start, last - _SYLLABLE_CHARACTERS), -1)
    vowels = (at for at in syllables if _SYLLABLE.match(shadow.text, at))
    for at in chain(vowels, range(last, start, -1)):
        if _is_place(shadow, at, end):
            return at
    for match in _ANY_PLACE.finditer(shadow.text, last + 1, end):
        if match.start() < end and _is_place(shadow, match.start(), end):
            return match.start()
    return end


def _is_place(shadow: Shadow, at: int, end: int) -> bool:
    text = shadow.text
    if not (_PLACE.match(text, at) or (_CUE_PLACE.match(text, at) and shadow.is_cue_edge(at))):
        return False
    return _SPEECH.search(text, at, end) is not None
