"""The gap that a removed cue leaves, and how it closes (contract § 5)."""

import unicodedata
from typing import Final

# Removing `[laugh]` right before one of these leaves no space: `word [laugh].` is `word.`
_CLOSES: Final = frozenset(",.;:!?…)]}»”’、。，！？；：")
# ... and none right after one of these: `“[laugh] Well` is `“Well`.
_OPENS: Final = frozenset("([{«“‘¿¡")


class Gap:
    """The place between what precedes a removed cue and what is to follow it."""

    def __init__(self, left: str, space: str) -> None:
        self._left = left
        """The character before the gap; empty at the beginning of a text."""
        self._before = space
        """The white space between `_left` and the cue."""
        self._after = ""
        """The white space behind the cue, as far as it was read."""

    def skip_space(self, text: str) -> str:
        """Takes the white space that `text` begins with into the gap; returns the rest of it."""
        rest = text.lstrip()
        self._after += text[: len(text) - len(rest)]
        return rest

    def joint(self, right: str) -> str:
        """Returns what stands in the closed gap, before the character `right`.

        Of the white space on both sides one side's is kept. There is none where there was none,
        except between two words, which never become one.
        """
        if not self._left:
            return ""
        if right in _CLOSES and not self._after:
            return ""
        if self._left in _OPENS and not self._before:
            return ""
        if self._before or self._after:
            return max(self._before, self._after, key=_parting)
        return " " if _is_spaced(self._left) and _is_spaced(right) else ""


def _parting(space: str) -> tuple[int, int]:
    """How much a white space parts what is around it: a line break more than a blank."""
    return space.count("\n"), len(space)


def _is_spaced(character: str) -> bool:
    """Whether words made of such characters are written apart."""
    if unicodedata.category(character)[0] not in "LMN":
        return False
    # Korean is written in wide characters and with spaces, Chinese and Japanese without.
    is_wide = unicodedata.east_asian_width(character) in "WF"
    return not is_wide or unicodedata.name(character, "").startswith("HANGUL")
