"""From parts to segments of one size: as few as their limit and the best cuts allow."""

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
    pieces: list[Piece] = []
    strengths = atoms.strengths
    first, last = parts.start, parts.stop - 1
    for at in parts:
        if strengths[at] < level and at < last:
            continue
        piece = Piece(atoms.starts[first], atoms.ends[at], strengths[at])
        if shadow.cost(piece.start, piece.end) <= limit:
            pieces.append(piece)
        elif level > Strength.WEAK:
            pieces += _fit(shadow, atoms, limit, range(first, at + 1), level - 1)
        else:
            pieces += _cut(shadow, piece, limit)
        first = at + 1
    return _pack(shadow, pieces, limit)


def _pack(shadow: Shadow, pieces: list[Piece], limit: int) -> list[Piece]:
    if len(pieces) < 2:
        return pieces
    packed: list[Piece] = []
    whole = pieces[0]
    for piece in pieces[1:]:
        if shadow.cost(whole.start, piece.end) <= limit:
            whole = Piece(whole.start, piece.end, piece.strength)
        else:
            packed.append(whole)
            whole = piece
    packed.append(whole)
    return packed


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
