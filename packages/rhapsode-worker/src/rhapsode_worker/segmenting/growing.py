"""From parts to segments that begin small and grow, so that the first audio comes early."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from math import ceil
from typing import Final

from rhapsode_worker.segmenting.atoms import Atoms
from rhapsode_worker.segmenting.cutting import last_cut
from rhapsode_worker.segmenting.packing import Piece
from rhapsode_worker.segmenting.scripts import UNSPACED
from rhapsode_worker.segmenting.shadow import Shadow
from rhapsode_worker.segmenting.strength import Strength

_GROWTH: Final = 2
"""How much longer than the one before a segment may be: an engine this many times faster than
real time has made it by the time the other is played."""

_LEAST_WORDS: Final = 3
_LEAST_CHARACTERS: Final = 12
_LEAST_SHARE: Final = 1 / 4
"""Of what the first segment may have. Less leaves too little time to make the second in."""

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_UNSPACED = re.compile(rf"[{UNSPACED}]")


def grow(shadow: Shadow, atoms: Atoms, limit: int, first_limit: int) -> list[Piece]:
    """Returns the text in pieces of which each is at most twice as long as the one before.

    Only a word that is longer than that is whole nevertheless.
    """
    row = _Row(shadow, atoms, min(first_limit, limit))
    row.take(row.first_end(min(_GROWTH * first_limit, limit), limit))
    while row.has_more:
        row.limit = min(_GROWTH * row.taken_cost, limit)
        row.take(row.next_end())
    return row.pieces


class _Row:
    """The parts of a text, taken from the front."""

    def __init__(self, shadow: Shadow, atoms: Atoms, limit: int) -> None:
        self.limit = limit
        """What the next piece may cost."""
        self.pieces: list[Piece] = []
        self._shadow = shadow
        self._atoms = atoms
        self._at = 0
        """Index of the first part that is not taken, or not whole."""
        self._start = atoms.starts[0]
        """Index in the text of what is not taken."""

    @property
    def has_more(self) -> bool:
        return self._at < len(self._atoms.ends)

    @property
    def taken_cost(self) -> int:
        """The cost of the piece that was taken last."""
        return self._shadow.cost(self.pieces[-1].start, self.pieces[-1].end)

    def take(self, end: int) -> None:
        """Takes what reaches to the index `end`, in the middle of a part or at its end."""
        ends, strengths = self._atoms.ends, self._atoms.strengths
        while self._at < len(ends) and ends[self._at] < end:
            self._at += 1
        strength = Strength.WEAK
        if ends[self._at] == end:
            strength = strengths[self._at]
            self._at += 1
        self.pieces.append(Piece(self._start, end, strength))
        self._start = end
        if self.has_more:
            self._start = max(end, self._atoms.starts[self._at])

    def first_end(self, overrun: int, most: int) -> int:
        """Returns where the first piece ends.

        That is the last end of a clause within the limit that is not too early; else the next
        one, as long as it costs no more than `overrun`; else, again up to that, the first word
        from the last within the limit on after which one more piece is all; else the last word
        within the limit, or the first beyond it that is not too early.
        """
        fitting = self._parts_within(self.limit)
        if fitting.stop == len(self._atoms.ends):
            return self._atoms.ends[-1]
        beyond = range(fitting.stop, self._parts_within(overrun).stop)
        for parts in (reversed(fitting), beyond):
            if (end := self._enough(parts, Strength.CLAUSE)) is not None:
                return end
        word = next(self._sufficient(reversed(fitting), Strength.WORD), None)
        onward = range(fitting.stop if word is None else word, beyond.stop)
        end = self._enough(self._before_one_more(onward, most), Strength.WORD)
        if end is not None:
            return end
        if word is not None:
            return self._atoms.ends[word]
        cut = self._cut_within(fitting.stop)
        if cut is None:
            cut = self._enough(range(fitting.stop, self._parts_within(most).stop), Strength.WORD)
        return self._forced_end(fitting) if cut is None else cut

    def _before_one_more(self, parts: range, most: int) -> Iterator[int]:
        """Yields those of `parts` after which the rest of the text is one piece."""
        starts, ends = self._atoms.starts, self._atoms.ends
        for part in parts[: len(ends) - 1 - parts.start]:
            rest = self._shadow.cost(starts[part + 1], ends[-1])
            if rest <= min(_GROWTH * self._shadow.cost(self._start, ends[part]), most):
                yield part

    def _enough(self, parts: Iterable[int], least: Strength) -> int | None:
        """Returns where the first of `parts` ends that would do for the first piece."""
        part = next(self._sufficient(parts, least), None)
        return None if part is None else self._atoms.ends[part]

    def _sufficient(self, parts: Iterable[int], least: Strength) -> Iterator[int]:
        """Yields those of `parts` that would do as the last of the first piece."""
        for part in parts:
            if self._atoms.strengths[part] >= least and self._is_enough(part):
                yield part

    def next_end(self) -> int:
        """Returns where a later piece ends: at the best place in the second half of its limit.

        A third does where the second half has words alone. A piece that is much shorter would
        hold down all that follow.
        """
        fitting = self._parts_within(self.limit)
        if fitting.stop == len(self._atoms.ends):
            return self._atoms.ends[-1]
        half = self.limit / 2
        for least, floor in (
            (Strength.CLAUSE, half),
            (Strength.CLAUSE, min(half, max(self.limit / 3, 2 * _LEAST_CHARACTERS))),
            (Strength.WORD, half),
        ):
            best = self._strongest(fitting, least, floor)
            if best is not None:
                return self._atoms.ends[best]
        return self._forced_end(fitting)

    def _strongest(self, parts: range, least: Strength, floor: float) -> int | None:
        """Returns the last of the best places, none of which leaves less than `floor`."""
        strengths = self._atoms.strengths
        best: int | None = None
        strength = least - 1
        too_short = self._parts_within(ceil(floor) - 1)
        for part in range(parts.stop - 1, too_short.stop - 1, -1):
            if strengths[part] > strength:
                best, strength = part, strengths[part]
        return best

    def _forced_end(self, fitting: range) -> int:
        """Returns the best of the bad places: within a part, else between two that hold together.

        Past the limit where there is none within it.
        """
        ends, strengths = self._atoms.ends, self._atoms.strengths
        part = fitting.stop
        if (cut := self._cut_within(part)) is not None:
            return cut
        for least in (Strength.WORD, Strength.WEAK):
            for fits in reversed(fitting):
                if strengths[fits] >= least:
                    return ends[fits]
        begin = max(self._start, self._atoms.starts[part])
        cut = last_cut(self._shadow, begin, begin, ends[part])
        if cut < ends[part]:
            return cut
        while strengths[part] < Strength.WEAK:
            part += 1
        return ends[part]

    def _cut_within(self, part: int) -> int | None:
        """Returns the last place in the midst of `part` that the limit reaches."""
        begin = max(self._start, self._atoms.starts[part])
        reach = self._shadow.reach(self._start, self.limit)
        if reach <= begin:
            return None
        cut = last_cut(self._shadow, begin, reach, self._atoms.ends[part])
        return cut if cut <= reach else None

    def _parts_within(self, limit: int) -> range:
        """Returns the parts of which the last still ends within `limit`."""
        reach = self._shadow.reach(self._start, limit)
        return range(self._at, bisect_right(self._atoms.ends, reach, lo=self._at))

    def _is_enough(self, part: int) -> bool:
        """Whether a first piece that ends with `part` takes long enough to say."""
        end = self._atoms.ends[part]
        cost = self._shadow.cost(self._start, end)
        text = self._shadow.text[self._start : end]
        unspaced = len(_UNSPACED.findall(text))
        if cost + unspaced < max(_LEAST_CHARACTERS, _LEAST_SHARE * self.limit):
            return False
        return unspaced > 0 or len(_WORD.findall(text)) >= _LEAST_WORDS
