"""The shared splitter: long text, cut where a reader would pause (contract § 8)."""

from rhapsode_worker.segmenting.segment import Segment
from rhapsode_worker.segmenting.shadow import Shadow


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
            at a word, and rather at a later one, within twice as much, that spares a third.
            Each later segment is at most twice the one before, up to `limit`.
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
    # Only here: its expressions take longer to compile than all else of a worker's own, and a
    # start waits for none of them.
    from rhapsode_worker.segmenting.long_text import segments_of

    return segments_of(text, shadow, limit, first_limit, language)
