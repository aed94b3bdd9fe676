"""From what somebody sent to the sentences that the model is given, one at a time."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Final

from rhapsode_worker.reading.addresses import with_addresses_spoken
from rhapsode_worker.reading.markup import without_markup
from rhapsode_worker.reading.numerals import with_numerals_spoken
from rhapsode_worker.reading.scripts import without_foreign_words
from rhapsode_worker.reading.words import with_words_bounded

_WRAPPED_CHARACTERS: Final = 60
"""A line this long that ends within a sentence was broken to fit a window."""

# Imported so because it has no types of its own.
_segment: Final[Callable[[str, str], Iterable[str]]] = import_module("sentencex").segment

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_ENDS = re.compile(r"""[.!?…:;]["”’')\]]*$""")
# `[word](/ipa/)` is how the engine is told phonemes. It cannot be, without square brackets.
_BRACKETS: Final = str.maketrans("[]", "()")


def sentences_of(text: str, language: str = "en") -> Iterator[str]:
    """Yields what is to be spoken, in order; nothing where nothing is left.

    None holds a square bracket, so nobody can slip phonemes to the engine.

    Args:
        text: As it came.
        language: The first part of its BCP 47 tag. Only English has its numbers and addresses put
            into words; in the others they are left to the engine's front end.
    """
    text = _visible(text)
    text = without_markup(text)
    if language == "en":
        text = with_numerals_spoken(with_addresses_spoken(text))
    # Once more: resolved entities and escapes may have brought new ones.
    text = without_foreign_words(_visible(text).translate(_BRACKETS), language)
    text = with_words_bounded(text)
    for paragraph in _BLANK_LINE.split(text):
        for line in _unwrapped(paragraph):
            for sentence in _segment(language, line):
                if stripped := sentence.strip():
                    yield stripped


def _visible(text: str) -> str:
    """Returns `text` in NFC, line ends as `\\n`, controls as spaces, the unseen gone."""
    text = unicodedata.normalize("NFC", text).replace("\r\n", "\n")
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in "\n\r\v\f\x85\u2028\u2029":
        return "\n"
    category = unicodedata.category(character)
    if category == "Cf" or "\ufe00" <= character <= "\ufe0f":
        return ""  # soft hyphens, joiners, marks of direction, variation selectors
    return " " if category[0] in "CZ" else character


def _unwrapped(paragraph: str) -> Iterator[str]:
    """Yields the lines of a paragraph, those joined that were broken within a sentence."""
    whole = ""
    for line in map(str.strip, paragraph.split("\n")):
        if not whole or _is_wrapped(whole.rpartition("\n")[2], line):
            whole = f"{whole}\n{line}" if whole else line
        else:
            yield whole.replace("\n", " ")
            whole = line
    yield whole.replace("\n", " ")


def _is_wrapped(line: str, following: str) -> bool:
    if _ENDS.search(line):
        # A sentence may end where a line does; the splitter finds it there too.
        return len(line) >= _WRAPPED_CHARACTERS
    return following[:1].islower() or len(line) >= _WRAPPED_CHARACTERS
