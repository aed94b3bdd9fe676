"""A text that is more than one segment: every rule at work."""

from rhapsode_worker.segmenting.atoms import atoms_of
from rhapsode_worker.segmenting.glue import bind
from rhapsode_worker.segmenting.growing import grow
from rhapsode_worker.segmenting.packing import Piece, fit
from rhapsode_worker.segmenting.quotes import spare_pairs
from rhapsode_worker.segmenting.rating import rate_gaps
from rhapsode_worker.segmenting.segment import Segment
from rhapsode_worker.segmenting.sentences import sentence_ends
from rhapsode_worker.segmenting.shadow import Shadow
from rhapsode_worker.segmenting.strength import JOINTS, Strength


def segments_of(
    text: str, shadow: Shadow, limit: int, first_limit: int | None, language: str | None
) -> tuple[Segment, ...]:
    """Returns a text in segments; the arguments are those of `split`, checked."""
    return _segments(text, _pieces(shadow, limit, first_limit, language))


def _pieces(
    shadow: Shadow, limit: int, first_limit: int | None, language: str | None
) -> list[Piece]:
    atoms = atoms_of(shadow.text)
    rate_gaps(shadow.text, atoms, sentence_ends(shadow.text, language))
    spare_pairs(shadow.text, atoms)
    bind(shadow.text, atoms)
    if first_limit is None:
        return fit(shadow, atoms, limit)
    return grow(shadow, atoms, limit, first_limit)


def _segments(text: str, pieces: list[Piece]) -> tuple[Segment, ...]:
    joints = [JOINTS[Strength(piece.strength)] for piece in pieces]
    return tuple(
        Segment(
            text=text[piece.start : piece.end],
            index=index,
            before=joints[index - 1] if index else None,
            after=joints[index] if index + 1 < len(pieces) else None,
        )
        for index, piece in enumerate(pieces)
    )
