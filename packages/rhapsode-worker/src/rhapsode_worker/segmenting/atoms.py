"""A text in its smallest parts: words, and phrases of the scripts that write no spaces."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
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
# Every branch takes what it has looked at, so that a text is read once.
_RUN = re.compile(
    rf"(?:[^\s{UNSPACED}{ENDERS}{DASHES}{_COMMAS}{_ENDS_PHRASE}]++"
    rf"|(?:(?!{_FOLLOWER}|[{HIRAGANA}])[{UNSPACED}][{SOFT_FOLLOWERS}]*+)++"
    rf"(?:(?!{_FOLLOWER})[{HIRAGANA}][{SOFT_FOLLOWERS}]*+)*+"
    rf"|(?:(?!{_FOLLOWER})[{HIRAGANA}][{SOFT_FOLLOWERS}]*+)++"
    rf"|(?={_FOLLOWER}))"
    rf"({_FOLLOWER}*+)"
)
_PREFIXES: Final = frozenset("おご")
_LETTER_OR_OPENER = re.compile(rf"[^\W\d_]|[{OPENERS}]")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_ADDRESS_MARK = re.compile(r"://|www\.|@", re.IGNORECASE)
_PLACES_KEPT: Final = 4096
"""A text has few kinds of places, and rates them over and over."""
_SHORT: Final = 8
"""Characters of a run for which it is kept how the place after it was rated."""

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
    if _MAY_PART.search(shadow):
        return _parted(shadow)
    spans = [token.span() for token in _TOKEN.finditer(shadow)]
    return Atoms([start for start, _ in spans], [end for _, end in spans], [GAP] * len(spans))


def _parted(shadow: str) -> Atoms:
    """Returns the parts of a text that may be parted where there is no white space, too."""
    starts: list[int] = []
    ends: list[int] = []
    strengths: list[int] = []
    addresses = _addresses(shadow)
    address_end = -1
    start: int | None = None
    has_core = False
    for run in _RUN.finditer(shadow):
        begin, at = run.span()
        core_end = run.start(1)
        if start is None:
            start, has_core = begin, False
            if addresses:
                address_end = addresses.get(begin, address_end)
        has_core = has_core or core_end > begin
        following = shadow[at : at + 1]
        if not following or following.isspace():
            strength = GAP
        elif not has_core or at < address_end:
            continue
        elif at - begin <= _SHORT:
            strength = _kept_strength(run[0], core_end - begin, following)
        else:
            strength = _run_strength(run[0], core_end - begin, following)
        if strength is not None:
            starts.append(start)
            ends.append(at)
            strengths.append(strength)
            start = None
    return Atoms(starts, ends, strengths)


def _addresses(shadow: str) -> dict[int, int]:
    """Returns where each address begins and ends; no reader pauses within one."""
    if not _ADDRESS_MARK.search(shadow):
        return {}
    spans = (token.span() for token in _TOKEN.finditer(shadow))
    return {
        start: end
        for start, end in spans
        if ADDRESS.match(shadow, start) and not _IS_UNSPACED.search(shadow, start, end)
    }


def _run_strength(run: str, core: int, following: str) -> Strength | None:
    """Rates the place after a run, as one where a reader may pause; None where none does.

    Args:
        run: Letters and what hangs on them.
        core: How many characters of it are no punctuation that hangs on a word.
        following: The next character.
    """
    last = run[-1]
    if last in OPENERS:
        return None
    if core == len(run) and last.isalpha():
        if core == 1 and last < "\u0250":
            return None  # `A股` and `T恤` are one word
        return _phrase_end(last, following)
    return _mark_strength(run.rstrip(CLOSING)[-1:], last, run[core - 1 : core], following)


_kept_strength = lru_cache(maxsize=_PLACES_KEPT)(_run_strength)


@lru_cache(maxsize=_PLACES_KEPT)
def _mark_strength(mark: str, last: str, core: str, following: str) -> Strength | None:
    """Rates the place after punctuation.

    Args:
        mark: The last character that closes no bracket or quote; empty where there is none.
        last: The last character.
        core: The last one that is no punctuation of the kind that hangs on a word.
        following: The next one.
    """
    if not mark or core.isdigit() and following.isdigit() and mark not in WIDE_ENDERS:
        return None
    if mark in WIDE_ENDERS or mark in "!?":
        strength = Strength.SENTENCE
    elif mark in ENDERS or mark == ".":
        strength = Strength.SENTENCE if _LETTER_OR_OPENER.match(following) else None
    elif mark in _COMMAS or mark in DASHES or mark in ",;:":
        strength = Strength.CLAUSE
    else:
        strength = _phrase_end(last, following)
    if strength is Strength.SENTENCE and following in "とっ":
        return Strength.CLAUSE
    return strength


@lru_cache(maxsize=_PLACES_KEPT)
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
