"""Words that no person would read in one: the engine's work grows with the cube of a word."""

import re
from typing import Final

MAX_LETTERS: Final = 45
"""As many as the longest word of its lexicon has."""

MAX_SIGNS_AND_LETTERS: Final = 24
"""A word with signs in it is the costly kind: 512 characters of `a@a@…` took the engine 56 s."""

_LONG = re.compile(rf"\S{{{MAX_SIGNS_AND_LETTERS + 1},}}")
_LETTERS = re.compile(r"[^\w\s]*[^\W\d_]+[^\w\s]*")
_REPEATED = re.compile(r"([^\w\s])\1{3,}")


def with_words_bounded(text: str) -> str:
    """Returns `text` with spaces in words that are too long, and no sign more than three times."""
    return _LONG.sub(_bounded, _REPEATED.sub(r"\1\1\1", text))


def _bounded(match: re.Match[str]) -> str:
    word = match[0]
    limit = MAX_LETTERS if _LETTERS.fullmatch(word) else MAX_SIGNS_AND_LETTERS
    # What is left, if it fits; else up to where a sign ends and a letter begins, if there is such.
    return " ".join(re.findall(rf".{{1,{limit}}}(?:$|(?<=\W)(?=\w))|.{{1,{limit}}}", word))
