"""A text in its smallest parts: words, and phrases of the scripts that write no spaces."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rhapsode_worker.segmenting.scripts import (
    CLOSING,
    DASHES,
    ENDERS,
    HARD_FOLLOWERS,
    HIRAGANA,
    OPENERS,
    SOFT_FOLLOWERS,
    UNSPACED,
    WIDE_ENDERS,
)
from rhapsode_worker.segmenting.strength import Strength

_TOKEN = re.compile(r"\S+")
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*+://|www\.|[\w.+-]++@[\w-]", re.IGNORECASE)

_COMMAS: Final = "、，；：､…‥၊៖༔"
_ENDS_PHRASE: Final = "\u0f0b\u0f0c\u1361\u200b・･"
_MAY_PART = re.compile(rf"[{UNSPACED}{ENDERS}{DASHES}{_COMMAS}{_ENDS_PHRASE}]")

_FOLLOWER: Final = rf"[{SOFT_FOLLOWERS}{HARD_FOLLOWERS}]"
# Every branch takes what it has looked at, so that a token is read once.
_RUN = re.compile(
    rf"(?:[^{UNSPACED}{ENDERS}{DASHES}{_COMMAS}{_ENDS_PHRASE}]++"
    rf"|(?:(?!{_FOLLOWER}|[{HIRAGANA}])[{UNSPACED}][{SOFT_FOLLOWERS}]*+)*+"
    rf"(?:(?!{_FOLLOWER})[{HIRAGANA}][{SOFT_FOLLOWERS}]*+)*+)"
    rf"({_FOLLOWER}*+)"
)
_PREFIXES: Final = frozenset("おご")
_LETTER_OR_OPENER = re.compile(rf"[^\W\d_]|[{OPENERS}]")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_IS_HIRAGANA = re.compile(rf"[{HIRAGANA}]")


@dataclass
class Atoms:
    """Parts of a text in order, as lists of one length."""

    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    strengths: list[int] = field(default_factory=list[int])
    """A `Strength` for the place after each part; `GAP` where white space is, to be rated yet."""


GAP: Final = -1


def atoms_of(shadow: str) -> Atoms:
    """Returns the parts of a text whose cues are filled; white space is in none of them."""
    atoms = Atoms()
    may_part = _MAY_PART.search(shadow) is not None
    for token in _TOKEN.finditer(shadow):
        start, end = token.span()
        if may_part and _MAY_PART.search(shadow, start, end):
            for cut, strength in _cuts(shadow, start, end):
                atoms.starts.append(start)
                atoms.ends.append(cut)
                atoms.strengths.append(strength)
                start = cut
        atoms.starts.append(start)
        atoms.ends.append(end)
        atoms.strengths.append(GAP)
    return atoms


def _cuts(shadow: str, start: int, end: int) -> Iterator[tuple[int, Strength]]:
    """Yields the places within a token where a reader may pause, and how good each is."""
    if ADDRESS.match(shadow, start) and not _IS_UNSPACED.search(shadow, start, end):
        return
    has_core = False
    for run in _RUN.finditer(shadow, start, end):
        begin, at = run.span()
        core_end = run.start(1)
        if at == end:
            return
        has_core = has_core or core_end > begin
        if not has_core or shadow[at - 1] in OPENERS:
            continue
        following = shadow[at]
        if core_end == at and shadow[at - 1].isalpha():
            if at - begin == 1 and shadow[at - 1] < "\u0250":
                continue  # `A股` and `T恤` are one word
            strength = _phrase_end(shadow[at - 1], following)
        else:
            within_number = following.isdigit() and shadow[core_end - 1].isdigit()
            strength = _strength(shadow[begin:at], following, within_number)
        if strength is not None:
            has_core = False
            yield at, strength


def _strength(run: str, following: str, within_number: bool) -> Strength | None:
    last = run.rstrip(CLOSING)[-1:]
    if not last or within_number and last not in WIDE_ENDERS:
        return None
    if last in WIDE_ENDERS or last in "!?":
        strength = Strength.SENTENCE
    elif last in ENDERS or last == ".":
        strength = Strength.SENTENCE if _LETTER_OR_OPENER.match(following) else None
    elif last in _COMMAS or last in DASHES or last in ",;:":
        strength = Strength.CLAUSE
    else:
        strength = _phrase_end(run[-1], following)
    if strength is Strength.SENTENCE and following in "とっ":
        return Strength.CLAUSE
    return strength


def _phrase_end(last: str, following: str) -> Strength | None:
    """Rates the place between two parts that no punctuation parts."""
    if last in _ENDS_PHRASE:
        return Strength.WORD
    if _IS_HIRAGANA.match(last):
        # A particle has ended: the nearest thing to a space that Japanese has. A prefix
        # of politeness is none.
        return None if last in _PREFIXES else Strength.WORD
    if not (last.isalpha() and following.isalpha()):
        return None
    is_change = bool(_IS_UNSPACED.match(last)) != bool(_IS_UNSPACED.match(following))
    return Strength.WORD if is_change else None
