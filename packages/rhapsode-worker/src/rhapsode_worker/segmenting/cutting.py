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
_CUE_PLACE = re.compile(rf"(?<=[^\W_]|{CUE_FILL})(?=[^\W_]|{CUE_FILL})")
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
    if speech is None:
        return end
    # What is before the first letter is punctuation, and no piece of its own.
    start = speech.start()
    last = max(start, min(reach, end - 1))
    for at in range(last, max(start, last - _SYLLABLE_CHARACTERS), -1):
        if _SYLLABLE.match(shadow.text, at) and _is_place(shadow, at):
            return at
    for at in chain(range(last, start, -1), range(last + 1, end)):
        if _is_place(shadow, at):
            return at
    return end


def _is_place(shadow: Shadow, at: int) -> bool:
    if _PLACE.match(shadow.text, at):
        return True
    return _CUE_PLACE.match(shadow.text, at) is not None and shadow.is_cue_edge(at)
