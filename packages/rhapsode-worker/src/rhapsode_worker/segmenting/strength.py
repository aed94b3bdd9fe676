"""How good a place is for a cut."""

from enum import IntEnum
from typing import Final

from rhapsode_worker.segmenting.joint import Joint


class Strength(IntEnum):
    """From the worst place for a cut to the best; a better one is taken first."""

    GLUE = 0
    """No cut: what follows, or what precedes, is punctuation and must not stand alone."""

    WEAK = 1
    """After an abbreviation or an initial, at a no-break space, between a cue and its sentence."""

    WORD = 2
    CLAUSE = 3

    INNER_SENTENCE = 4
    """The end of a sentence within quotes or brackets."""

    SENTENCE = 5


JOINTS: Final = {
    Strength.GLUE: Joint.WORD,
    Strength.WEAK: Joint.WORD,
    Strength.WORD: Joint.WORD,
    Strength.CLAUSE: Joint.CLAUSE,
    Strength.INNER_SENTENCE: Joint.SENTENCE,
    Strength.SENTENCE: Joint.SENTENCE,
}
