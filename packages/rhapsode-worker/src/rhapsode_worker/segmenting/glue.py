"""Punctuation that stands alone, and cues: each is bound to the words it belongs to."""

import re

from rhapsode_worker.segmenting.atoms import Atoms
from rhapsode_worker.segmenting.scripts import OPENERS
from rhapsode_worker.segmenting.shadow import CUE_FILL
from rhapsode_worker.segmenting.strength import Strength

_WORD = re.compile(r"[^\W_]")
_CUE = re.compile(CUE_FILL)
_OPENS = re.compile(rf"[{OPENERS}{CUE_FILL}]++\Z")
_LINE_END = re.compile(r"[\n\r\v\f\x85\u2028\u2029]")


def bind(shadow: str, atoms: Atoms) -> None:
    """Lowers the strengths of `atoms` so that no cut leaves a part with nothing to say.

    Punctuation is glued for good. A cue is bound weakly: it can be said alone, if it has to.
    """
    words = _parts_with(_WORD, shadow, atoms) or _parts_with(_CUE, shadow, atoms)
    if len(words) == len(atoms.starts):
        return
    before = -1
    for word in [*words, len(atoms.starts)]:
        if word - before > 1:
            _bind_run(shadow, atoms, before, word)
        before = word


def _parts_with(pattern: re.Pattern[str], shadow: str, atoms: Atoms) -> list[int]:
    return [
        part
        for part, (start, end) in enumerate(zip(atoms.starts, atoms.ends, strict=True))
        if pattern.search(shadow, start, end)
    ]


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
    strongest = max((strengths[place] for place in places), default=Strength.GLUE)
    for place in places:
        if place == parting:
            strengths[place] = strongest
            continue
        bound = place + 1 if place < parting else place
        is_cue = _CUE.search(shadow, atoms.starts[bound], atoms.ends[bound])
        strengths[place] = Strength.WEAK if is_cue else Strength.GLUE


def _parting(shadow: str, atoms: Atoms, before: int, after: int) -> int:
    """Returns the place where what belongs to the next word begins."""
    for place in range(before, after):
        if _LINE_END.search(shadow, atoms.ends[place], atoms.starts[place + 1]):
            return place
    place = after - 1
    while place > before and _OPENS.match(shadow, atoms.starts[place], atoms.ends[place]):
        place -= 1
    return place
