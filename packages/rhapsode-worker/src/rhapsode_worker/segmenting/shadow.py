"""A text as the rules see it: of the same length, its cues and straight quotes made plain."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Final

from rhapsode_contract import find_cues

CUE_START: Final = "\ue001"
CUE_FILL: Final = f"{CUE_START}\ue000"
"""What stands for the first character of a cue and for the others, so that no rule finds a bracket
or a word in it; as the inside of a regular expression's brackets."""

# The first group is there where an opening bracket, quote or dash, a blank or nothing precedes; the
# second where a blank or nothing follows.
_STRAIGHT = re.compile(r'"(?:(?<![^\s(\[{（「『“‘«„—–].)())?"*+(?:(?=\s|\Z)())?', re.DOTALL)
_PRECEDED: Final = 1
_FOLLOWED: Final = 2


class Shadow:
    """A text with every cue filled and every `"` turned into `“` or `”`."""

    def __init__(self, text: str) -> None:
        self._cue_starts: list[int] = []
        self._cue_ends: list[int] = []
        self._saved: list[int] = [0]
        """Characters that the cues before a place do not count for, one more than cues."""
        self._costs: list[int] = []
        """Of all that is before each cue."""
        filled: list[str] = []
        at = 0
        for cue in find_cues(text):
            length = cue.end - cue.start
            filled += text[at : cue.start], CUE_START.ljust(length, CUE_FILL[1])
            self._cue_starts.append(cue.start)
            self._cue_ends.append(cue.end)
            self._costs.append(cue.start - self._saved[-1])
            self._saved.append(self._saved[-1] + length - 1)
            at = cue.end
        filled.append(text[at:])
        self.text: Final = _directed("".join(filled))

    def cost(self, start: int, end: int) -> int:
        """Returns the length of a slice in code points, a cue counted as one."""
        if not self._cue_starts:
            return end - start
        return end - start - self._saved_before(end) + self._saved_before(start)

    def reach(self, start: int, cost: int) -> int:
        """Returns the furthest end of a slice from `start` that costs no more than `cost`."""
        if not self._cue_starts:
            return min(len(self.text), start + cost)
        total = start - self._saved_before(start) + cost
        whole = bisect_left(self._costs, total)
        return min(len(self.text), total + self._saved[whole])

    def _saved_before(self, index: int) -> int:
        whole = bisect_right(self._cue_ends, index)
        begun = 0
        if whole < len(self._cue_starts):
            begun = max(0, index - self._cue_starts[whole] - 1)
        return self._saved[whole] + begun


def _directed(text: str) -> str:
    """Returns `text` with each straight double quote as one that opens or closes."""
    return _STRAIGHT.sub(_director(), text) if '"' in text else text


def _director() -> Callable[[re.Match[str]], str]:
    is_open = False

    def direct(match: re.Match[str]) -> str:
        nonlocal is_open
        found = match.lastindex
        if found == _FOLLOWED:
            is_open = False
        elif found == _PRECEDED:
            is_open = True
        else:
            is_open = not is_open
        return ("“" if is_open else "”") * len(match[0])

    return direct
