"""From parts to segments of one size: as few as their limit and the best cuts allow."""

from bisect import bisect_right
from typing import NamedTuple

from rhapsode_worker.segmenting.atoms import Atoms
from rhapsode_worker.segmenting.cutting import last_cut
from rhapsode_worker.segmenting.shadow import Shadow
from rhapsode_worker.segmenting.strength import Strength


class Piece(NamedTuple):
    """A slice of the text; a tuple, since thousands are made and packed."""

    start: int
    end: int
    strength: int
    """A `Strength`: of the cut at its end."""


def fit(shadow: Shadow, atoms: Atoms, limit: int) -> list[Piece]:
    """Returns the text as sentences, packed; those that are too long as clauses, then words."""
    return _fit(shadow, atoms, limit, range(len(atoms.starts)), Strength.SENTENCE)


def _fit(shadow: Shadow, atoms: Atoms, limit: int, parts: range, level: int) -> list[Piece]:
    starts, ends, strengths = atoms.starts, atoms.ends, atoms.strengths
    lasts = [part for part in parts[:-1] if strengths[part] >= level]
    lasts.append(parts[-1])
    edges = [ends[part] for part in lasts]
    packed: list[Piece] = []
    done = 0
    first = parts.start
    while done < len(edges):
        start = packed[-1].start if packed else starts[first]
        stop = bisect_right(edges, shadow.reach(start, limit), lo=done)
        if stop > done:
            packed[-1:] = [Piece(start, edges[stop - 1], strengths[lasts[stop - 1]])]
        elif shadow.cost(starts[first], edges[done]) <= limit:
            stop = done + 1
            packed.append(Piece(starts[first], edges[done], strengths[lasts[done]]))
        else:
            stop = done + 1
            parted = _divided(shadow, atoms, limit, range(first, lasts[done] + 1), level)
            _pack(shadow, packed, parted, limit)
        done = stop
        first = lasts[done - 1] + 1
    return packed


def _divided(shadow: Shadow, atoms: Atoms, limit: int, parts: range, level: int) -> list[Piece]:
    """Returns parts that together are too long in pieces, cut at the next worse places."""
    if level > Strength.WEAK:
        return _fit(shadow, atoms, limit, parts, level - 1)
    start, end = atoms.starts[parts[0]], atoms.ends[parts[-1]]
    return _cut(shadow, Piece(start, end, atoms.strengths[parts[-1]]), limit)


def _pack(shadow: Shadow, packed: list[Piece], pieces: list[Piece], limit: int) -> None:
    for piece in pieces:
        if packed and shadow.cost(packed[-1].start, piece.end) <= limit:
            packed[-1] = Piece(packed[-1].start, piece.end, piece.strength)
        else:
            packed.append(piece)


def _cut(shadow: Shadow, piece: Piece, limit: int) -> list[Piece]:
    """Returns a part that is too long in pieces; whole where it is a word."""
    cuts: list[Piece] = []
    start = piece.start
    while shadow.cost(start, piece.end) > limit:
        end = last_cut(shadow, start, shadow.reach(start, limit), piece.end)
        if end == piece.end:
            break
        cuts.append(Piece(start, end, Strength.WEAK))
        start = end
    cuts.append(Piece(start, piece.end, piece.strength))
    return cuts
