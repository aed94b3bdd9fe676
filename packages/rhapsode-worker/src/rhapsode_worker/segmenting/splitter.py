"""The shared splitter: long text, cut where a reader would pause (contract § 8)."""

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


def split(
    text: str, limit: int, *, first_limit: int | None = None, language: str | None = None
) -> tuple[Segment, ...]:
    """Returns `text` in segments, in order; joined, they are the text but for white space.

    Sentences, then clauses, then words, packed back greedily. A word longer than the limit stays
    whole, with the punctuation that hangs on it; text without spaces is cut at the limit, after
    punctuation where there is any. A cue counts as one character and is in exactly one segment.
    What is returned depends on the arguments alone. Any thread may call this; it takes time in
    proportion to the text.

    Args:
        text: Cues as they are written.
        limit: Code points that one segment may have, at least 1.
        first_limit: What the first segment should have at most, at least 1, for the first audio
            to come early. It then ends at the last end of a sentence or clause that fits and is
            no mere word or two; where there is none, at the next one within twice as much, else
            at a word. Each later segment is at most twice the one before, up to `limit`.
        language: A BCP 47 tag of the text, such as `de` or `pt-BR`: it tells an abbreviation from
            the end of a sentence. English where it is not given.

    Raises:
        ValueError: A limit is below 1.
    """
    if limit < 1 or (first_limit is not None and first_limit < 1):
        raise ValueError("A segment has at least one character.")
    text = text.strip()
    shadow = Shadow(text)
    if not text:
        return ()
    if shadow.cost(0, len(text)) <= min(limit, first_limit or limit):
        return (Segment(text, 0, None, None),)
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
