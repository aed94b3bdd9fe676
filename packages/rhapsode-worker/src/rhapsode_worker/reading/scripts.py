"""Letters that English has no sound for.

The engine leaves out most scripts by itself. Cyrillic, Armenian, Georgian and Greek words it makes
up: "Здравствуйте" comes out as a row of letter names that nobody would recognise.
"""

import re
import unicodedata
from typing import Final

# A single one is a symbol with an English name: "π", "the β of a portfolio", "5 μm".
_GREEK_WORD: Final = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]{2,}")
_LAST_LATIN: Final = "\u024f"
"""Up to here every letter is a Latin one, or reads as one: `º`, `µ`."""


def without_foreign_words(text: str) -> str:
    """Returns `text` with a space for each letter that is not Latin, nor a lone Greek one."""
    if text.isascii():
        return text
    text = _GREEK_WORD.sub(" ", text)
    return "".join(" " if _is_foreign(character) else character for character in text)


def _is_foreign(character: str) -> bool:
    if character <= _LAST_LATIN or not character.isalpha():
        return False
    # Letters of mathematics and of full width stand for plain ones.
    plain = unicodedata.normalize("NFKC", character)[0]
    return not unicodedata.name(plain, "").startswith(("LATIN ", "GREEK ", "MODIFIER "))
