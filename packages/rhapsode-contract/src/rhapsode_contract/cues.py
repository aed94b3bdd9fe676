"""Cues inside a text: where they are, and their removal (contract § 5).

A cue is matched whatever its case and inner white space, so `[Clear  Throat]` is one. Any other
bracketed text is text.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from rhapsode_contract.gap import Gap
from rhapsode_contract.vocabulary import CUES

# ASCII letters alone: with Unicode's case folding `[ſigh]` would match and be no word of the list.
_WORDS: Final = "|".join(
    r"\s+".join(f"(?ai:{word})" for word in cue.split()) for cue in sorted(CUES)
)
_INSIDE: Final = re.compile(rf"\s*({_WORDS})\s*")
_CUE: Final = re.compile(rf"\[{_INSIDE.pattern}\]")
_BRACKET: Final = re.compile(r"[\[\]]")
# Letters to Unicode, but blank wherever they are drawn: the fillers of Hangul.
_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0")


@dataclass(frozen=True)
class PlacedCue:
    """A cue at its place in a text."""

    cue: str
    """Its word in the vocabulary."""

    start: int
    """Index of the opening bracket."""

    end: int
    """Index after the closing bracket."""


def find_cues(text: str) -> Iterator[PlacedCue]:
    """Yields every cue of the vocabulary in `text`, in order."""
    for match in _CUE.finditer(text):
        yield PlacedCue(_word(match), match.start(), match.end())


def strip_cues(text: str, claimed: Collection[str]) -> str:
    """Returns `text` without the cues that are not `claimed`, each gap closed behind it.

    What is left holds no unclaimed cue: one that a removal puts together, as in `[[laugh]laugh]`,
    goes too. Where nothing has to go the text comes back as it was. Takes time in proportion to
    the text, whatever is in it.
    """
    if all(placed.cue in claimed for placed in find_cues(text)):
        return text
    rest = _Rest(claimed)
    at = 0
    for bracket in _BRACKET.finditer(text):
        rest.add(text[at : bracket.start()])
        if bracket[0] == "[":
            rest.open()
        else:
            rest.close()
        at = bracket.end()
    rest.add(text[at:])
    return "".join(rest.pieces)


def is_speakable(text: str, claimed: Collection[str]) -> bool:
    """Whether there is anything to say: a letter, a digit or a claimed cue."""
    # Cues that are not claimed are not said; their letters must not count.
    rest = strip_cues(text, claimed)
    if next(find_cues(rest), None) is not None:
        return True
    return any(
        unicodedata.category(character)[0] in "LN" and character not in _BLANK_LETTERS
        for character in rest
    )


class _Rest:
    """What is left of a text that is read once, bracket by bracket."""

    def __init__(self, claimed: Collection[str]) -> None:
        self.pieces: list[str] = []
        self._claimed = claimed
        self._opened: list[int] = []
        """Indices in `pieces` of the brackets that may still begin a cue."""
        self._gap: Gap | None = None
        """What stands where a cue was removed, while nothing follows it yet."""

    def add(self, text: str) -> None:
        """Appends `text`; if a cue went just before it, closes the gap between."""
        if self._gap is not None:
            text = self._gap.skip_space(text)
            if text:
                self.pieces.append(self._gap.joint(text[0]))
                self._gap = None
        if text:
            self.pieces.append(text)

    def open(self) -> None:
        self.add("[")
        self._opened.append(len(self.pieces) - 1)

    def close(self) -> None:
        if self._opened:
            inside = _INSIDE.fullmatch("".join(self.pieces[self._opened[-1] + 1 :]))
            if inside is not None and _word(inside) not in self._claimed:
                self._remove_from(self._opened.pop())
                return
        self.add("]")
        # No cue holds a bracket, so nothing that was opened before this one can become one.
        self._opened.clear()

    def _remove_from(self, index: int) -> None:
        del self.pieces[index:]
        space = ""
        while self.pieces:
            last = self.pieces.pop()
            kept = last.rstrip()
            space = last[len(kept) :] + space
            if kept:
                self.pieces.append(kept)
                break
        self._gap = Gap(self.pieces[-1][-1] if self.pieces else "", space)


def _word(match: re.Match[str]) -> str:
    return " ".join(match[1].lower().split())
