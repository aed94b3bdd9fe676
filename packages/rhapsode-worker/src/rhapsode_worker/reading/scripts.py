"""Letters that a language has no sound for.

An English front end leaves out most scripts by itself. Cyrillic, Armenian, Georgian and Greek words
it makes up: "Здравствуйте" comes out as a row of letter names that nobody would recognise. eSpeak
says of each letter which script it is of.
"""

import re
import unicodedata
from typing import Final

# A single one is a symbol with an English name: "π", "the β of a portfolio", "5 μm".
_GREEK_WORD: Final = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]{2,}")
_LAST_LATIN: Final = "\u024f"
"""Up to here every letter is a Latin one, or reads as one: `º`, `µ`."""

_KNOWN: Final = ("LATIN ", "GREEK ", "MODIFIER ", "COMBINING ")
_OWN: Final = {"hi": ("DEVANAGARI ",)}
"""How the names of letters begin: of those that every language here reads, and of others that one
does by its language."""


def without_foreign_words(text: str, language: str = "en") -> str:
    """Returns `text` with a space for each letter that is not Latin, nor a lone Greek one.

    Args:
        text: Normalised, in NFC.
        language: The first part of its BCP 47 tag; the letters of its own script stay.
    """
    if text.isascii():
        return text
    known = _KNOWN + _OWN.get(language, ())
    text = _GREEK_WORD.sub(" ", text)
    return "".join(" " if _is_foreign(character, known) else character for character in text)


def _is_foreign(character: str, known: tuple[str, ...]) -> bool:
    if character <= _LAST_LATIN or unicodedata.category(character)[0] not in "LM":
        return False
    # Letters of mathematics and of full width stand for plain ones.
    plain = unicodedata.normalize("NFKC", character)[0]
    return not unicodedata.name(plain, "").startswith(known)
