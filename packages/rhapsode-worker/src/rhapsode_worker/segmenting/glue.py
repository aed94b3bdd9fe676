"""Punctuation that stands alone, and cues: each is bound to the words it belongs to."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from rhapsode_worker.segmenting.atoms import Atoms
from rhapsode_worker.segmenting.scripts import CLOSERS, ENDERS, OPENERS
from rhapsode_worker.segmenting.shadow import CUE_FILL
from rhapsode_worker.segmenting.strength import Strength

_WORD = re.compile(r"[^\W_]")
_CUE = re.compile(f"[{CUE_FILL}]")
_OPENS = re.compile(rf"[{OPENERS}{CUE_FILL}]++\Z")
_OPENS_PAIR = re.compile(rf"(?<!\S)[{OPENERS}]++\Z")
_CLOSES = re.compile(rf"(?<!\S)[{CLOSERS}{ENDERS}.,;:!?…、，；：]++\Z")
# By whether a part is a cue: that can be said alone, if it has to.
_BONDS: Final = {False: Strength.GLUE, True: Strength.WEAK}
_LINE_END = re.compile(r"[\n\r\v\f\x85\u2028\u2029]")
_SHORT: Final = 16
"""Characters between two words of which the bonds are kept: a text has few kinds of them."""


def bind(shadow: str, atoms: Atoms) -> None:
    """Lowers the strengths of `atoms` so that no cut leaves a part with nothing to say.

    Punctuation is glued for good. A cue is bound weakly: it can be said alone, if it has to.
    """
    words = _parts_with(_WORD.search, shadow, atoms) or _parts_with(_CUE.search, shadow, atoms)
    if len(words) == len(atoms.starts):
        return
    if not words:
        atoms.strengths[:-1] = [Strength.GLUE] * (len(atoms.starts) - 1)
        return
    before = -1
    for word in [*words, len(atoms.starts)]:
        if word - before > 1:
            _bind_between(shadow, atoms, before, word)
        before = word


def _parts_with(
    search: Callable[[str, int, int], re.Match[str] | None], shadow: str, atoms: Atoms
) -> list[int]:
    return [
        part
        for part, (start, end) in enumerate(zip(atoms.starts, atoms.ends, strict=True))
        if shadow[start].isalnum() or search(shadow, start, end)
    ]


def _bind_between(shadow: str, atoms: Atoms, before: int, after: int) -> None:
    """Binds the parts between the words `before` and `after`; either may not be there."""
    starts, ends, strengths = atoms.starts, atoms.ends, atoms.strengths
    if before < 0 or after == len(starts) or starts[after] - ends[before] > _SHORT:
        _bind_run(shadow, atoms, before, after)
        return
    base = ends[before]
    edges = ()
    if after - before > 2:  # else what is no white space is the one part
        inner = [*starts[before + 1 : after], *ends[before + 1 : after]]
        edges = tuple([edge - base for edge in inner])
    bonds, parting = _bonds(shadow[base : starts[after]], edges)
    strongest = max(strengths[before:after])
    strengths[before:after] = bonds
    strengths[before + parting] = strongest


@lru_cache(maxsize=4096)
def _bonds(between: str, edges: tuple[int, ...]) -> tuple[list[int], int]:
    """Returns the strengths of the places between two words, and which of them parts the two.

    Args:
        between: What is between the words, white space included.
        edges: Where in it each part starts, then where each ends; empty where there is one part.
    """
    if not edges:
        edges = (len(between) - len(between.lstrip()), len(between.rstrip()))
    count = len(edges) // 2
    # A letter stands for the word before.
    starts = [0, *(edge + 1 for edge in edges[:count]), len(between) + 1]
    ends = [1, *(edge + 1 for edge in edges[count:]), len(between) + 1]
    strengths: list[int] = [Strength.SENTENCE] * (count + 2)
    _bind_run(f"x{between}", Atoms(starts, ends, strengths), 0, count + 1)
    return strengths[:-1], strengths.index(Strength.SENTENCE)


def _bind_run(shadow: str, atoms: Atoms, before: int, after: int) -> None:
    """Binds the parts between the words `before` and `after`; either may not be there."""
    strengths = atoms.strengths
    has_after = after < len(strengths)
    # Place n is after part n: all from `before` to `after - 1` are around the run.
    places = range(max(before, 0), after if has_after else after - 1)
    if before < 0:
        parting = before
    elif has_after:
        parting = _parting(shadow, atoms, before, after)
    else:
        parting = after
    strongest = max(strengths[places.start : places.stop], default=Strength.GLUE)
    for place in places:
        if place == parting:
            strengths[place] = strongest
        elif place < parting:
            strengths[place] = _backward_bond(shadow, atoms, place + 1, min(parting, after - 1))
        else:
            strengths[place] = _forward_bond(shadow, atoms, parting + 1, place)


def _backward_bond(shadow: str, atoms: Atoms, part: int, last: int) -> Strength:
    """Returns what binds `part` to the one before; what follows the word ends with `last`."""
    if _has(_OPENS_PAIR, shadow, atoms, part - 1):
        return Strength.GLUE
    while part < last and _has(_OPENS_PAIR, shadow, atoms, part):
        part += 1  # glued to what it opens, which may be a cue
    return _BONDS[_has(_CUE, shadow, atoms, part)]


def _forward_bond(shadow: str, atoms: Atoms, first: int, part: int) -> Strength:
    """Returns what binds `part` to the next one; what precedes the word begins at `first`."""
    if _has(_CLOSES, shadow, atoms, part + 1):
        return Strength.GLUE
    while part > first and _has(_CLOSES, shadow, atoms, part):
        part -= 1  # glued to what it closes, which may be a cue
    return _BONDS[_has(_CUE, shadow, atoms, part)]


def _has(pattern: re.Pattern[str], shadow: str, atoms: Atoms, part: int) -> bool:
    return pattern.search(shadow, atoms.starts[part], atoms.ends[part]) is not None


def _parting(shadow: str, atoms: Atoms, before: int, after: int) -> int:
    """Returns the place where what belongs to the next word begins."""
    starts, ends = atoms.starts, atoms.ends
    place, opens = after - 1, _OPENS
    for at in range(before, after):
        if ends[at] < starts[at + 1] and _LINE_END.search(shadow, ends[at], starts[at + 1]):
            # What begins a line is a bullet or a rule, and a cue that ends one belongs to it.
            place, opens = at, _OPENS_PAIR
            break
    while place < after - 1 and _has(_CLOSES, shadow, atoms, place + 1):
        place += 1
    while place > before and opens.match(shadow, starts[place], ends[place]):
        place -= 1
    return place
