"""How good each white space of a text is for a cut."""

import re
from typing import Final

from rhapsode_worker.segmenting.atoms import ADDRESS, GAP, Atoms
from rhapsode_worker.segmenting.scripts import (
    CLAUSE_MARKS,
    CLOSING,
    DASHES,
    ENDERS,
    OPENERS,
    SOUTH_EAST_ASIAN,
)
from rhapsode_worker.segmenting.strength import Strength

_LINE_ENDS: Final = "\n\r\v\f\x85\u2029"
_LINE_END = re.compile(rf"\r\n|[{_LINE_ENDS}]")
_BREAKABLE = re.compile(r"[^\S\u00a0\u202f\u2007]")
_BREATH: Final = frozenset("\u3000\u2028")
_PHRASE_SCRIPT = re.compile(rf"[{SOUTH_EAST_ASIAN}]")
_FIRST_LETTER = re.compile(rf"[{OPENERS}]*+(\S)")
_ASIDE: Final = frozenset("([（［—―–")

# Titles that open a name in so many languages that none may be taken for a sentence's end, and
# initials: `M. Dupont`, `J. R. R. Tolkien`. A sentence does end with `I.`
_BEFORE_A_NAME = re.compile(
    rf"[{OPENERS}]*+(?:(?![I\d_])\w|Dr|Mr|Mrs|Ms|Mme|Mlle|Prof|St|Sr|Sra|Mt)\."
)
_LIST_MARK = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]")
_THOUSANDS = re.compile(r"\d{3}(?!\d)")
_THOUSANDS_LENGTH: Final = 4


def rate_gaps(shadow: str, atoms: Atoms, sentence_ends: set[int]) -> None:
    """Sets the strength of every place of `atoms` that is still a gap.

    Args:
        shadow: The text, its cues filled.
        atoms: Its parts.
        sentence_ends: Indices right after each sentence.
    """
    has_case = shadow.lower() != shadow
    starts, ends, strengths = atoms.starts, atoms.ends, atoms.strengths
    word, sentence = Strength.WORD, Strength.SENTENCE
    begins_sentence = True
    kept: dict[tuple[str, int, bool, bool], Strength] = {}  # a text has few kinds of places
    parts = zip(starts, ends, starts[1:], strengths, strict=False)
    for at, (start, end, following, strength) in enumerate(parts):
        if strength != GAP:
            begins_sentence = strength >= sentence
            continue
        is_end = end in sentence_ends
        if shadow[end] == " " and not is_end and _is_plain(shadow, end, following):
            strengths[at] = word
            begins_sentence = False
            continue
        begin = end - 1 if shadow[end - 1].isalnum() else _begin(shadow, start, end)
        around = _around(shadow, begin, end, following), end - begin, is_end, begins_sentence
        strength = kept.get(around)
        if strength is None:
            place = _Place(shadow, start, end, following)
            kept[around] = strength = place.strength(is_end, begins_sentence, has_case)
        strengths[at] = strength
        begins_sentence = strength >= sentence or shadow[end] in _LINE_ENDS
    if strengths:
        strengths[-1] = sentence


def _begin(shadow: str, start: int, end: int) -> int:
    """Returns where what decides about the place after a part begins.

    That is its last character which closes nothing; all of it where that is a full stop, or where
    it ends with a bracket that it may have opened.
    """
    at = end - 1
    if shadow[at] in ")]":
        return start
    while at > start and shadow[at] in CLOSING:
        at -= 1
    return start if shadow[at] == "." else at


def _around(shadow: str, begin: int, end: int, following: int) -> str:
    """Returns what decides about a place: from `begin` on, and as much of what follows."""
    if shadow[following] in OPENERS:
        letter = _FIRST_LETTER.match(shadow, following)
        return shadow[begin : following + 1] + (letter[1] if letter else " ")
    if shadow[end - 1].isdigit():
        return shadow[begin : following + _THOUSANDS_LENGTH]
    return shadow[begin : following + 1]


def _is_plain(shadow: str, end: int, following: int) -> bool:
    """Whether a gap that begins with a blank is no more than that, between two letters, as nearly
    all are; spares time. Not where a blank may be the end of a phrase.
    """
    return (
        following - end == 1
        and shadow[end - 1].isalpha()
        and shadow[following].isalpha()
        and not _PHRASE_SCRIPT.match(shadow, following)
    )


class _Place:
    """A white space and what is around it."""

    __slots__ = ("_end", "_following", "_shadow", "_start")

    def __init__(self, shadow: str, start: int, end: int, following: int) -> None:
        self._shadow = shadow
        self._start = start
        """Where the part before the space begins."""
        self._end = end
        self._following = following
        """Where the part after the space begins."""

    def strength(self, is_sentence_end: bool, begins_sentence: bool, has_case: bool) -> Strength:
        """Rates the space.

        Args:
            is_sentence_end: Whether a sentence seems to end before it.
            begins_sentence: Whether the part before it is a sentence's first.
            has_case: Whether the text has capitals.
        """
        strength = self._line_strength()
        if strength is not None:
            return strength
        if is_sentence_end and not (begins_sentence and self._is_list_mark()):
            return self._sentence_strength(has_case)
        return self._word_strength()

    def _line_strength(self) -> Strength | None:
        """Rates a space that ends a paragraph; None for any other."""
        if self._following - self._end == 1:
            return Strength.SENTENCE if self._shadow[self._end] == "\u2029" else None
        lines = len(_LINE_END.findall(self._shadow, self._end, self._following))
        return Strength.SENTENCE if lines > 1 else None

    def _is_list_mark(self) -> bool:
        """Whether the part before the space is the number of what follows."""
        return _LIST_MARK.fullmatch(self._shadow, self._start, self._end) is not None

    def _sentence_strength(self, has_case: bool) -> Strength:
        """Rates a space where a sentence seems to end."""
        word = self._shadow[self._start : self._end].rstrip(CLOSING)
        if word.endswith("."):
            if _BEFORE_A_NAME.fullmatch(word):
                return Strength.WEAK
            if has_case and self._is_lower_next():
                return Strength.CLAUSE
        return Strength.SENTENCE

    def _word_strength(self) -> Strength:
        """Rates a space within a sentence."""
        shadow = self._shadow
        gap = shadow[self._end : self._following]
        last = shadow[self._end - 1]
        if not last.isalnum():
            strength = self._punctuation_strength()
            if strength is not None:
                return strength
        if gap != " ":
            if _LINE_END.search(gap):
                return Strength.WORD if self._is_lower_next() else Strength.CLAUSE
            if not _BREAKABLE.search(gap):
                return Strength.WEAK
            if not _BREATH.isdisjoint(gap):
                return Strength.CLAUSE
        following = shadow[self._following]
        if following in _ASIDE or _PHRASE_SCRIPT.match(last) and _PHRASE_SCRIPT.match(following):
            return Strength.CLAUSE
        if last.isdigit() and _THOUSANDS.match(shadow, self._following):
            return Strength.WEAK
        return Strength.WORD

    def _punctuation_strength(self) -> Strength | None:
        word = self._shadow[self._start : self._end].rstrip(CLOSING)
        last = word[-1:]
        if not last:
            return None
        if last in CLAUSE_MARKS or last in DASHES or last in ENDERS or last in "!?…":
            return Strength.CLAUSE
        if last == ".":
            return self._full_stop_strength(word)
        # `(see below)`, not `log(s)`.
        is_closing = self._shadow[self._end - 1] in ")]" and "(" not in word and "[" not in word
        return Strength.CLAUSE if is_closing else None

    def _full_stop_strength(self, word: str) -> Strength:
        """Rates a space after a full stop that seems to end no sentence."""
        if ADDRESS.match(word):
            # An address is no abbreviation, though it looks like one.
            return Strength.CLAUSE if self._is_lower_next() else Strength.SENTENCE
        return Strength.CLAUSE if word.endswith("..") else Strength.WEAK

    def _is_lower_next(self) -> bool:
        first = _FIRST_LETTER.match(self._shadow, self._following)
        return first is not None and first[1].islower()
