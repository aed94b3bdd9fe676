"""What one generation gets of a text."""

from dataclasses import dataclass

from rhapsode_worker.segmenting.joint import Joint


@dataclass(frozen=True)
class Segment:
    """A part of a text, of at most the size that an engine reads well."""

    text: str
    """Something to say: never empty, never blank at an end, never punctuation alone."""

    index: int
    """Its place among the segments, from 0. Segment n of a request with seed s has s + n."""

    before: Joint | None
    """Where it meets the segment before it; None for the first."""

    after: Joint | None
    """Where it meets the next one; None for the last."""
