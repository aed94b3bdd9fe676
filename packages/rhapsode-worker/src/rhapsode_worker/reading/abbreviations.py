"""English words that look like abbreviations where a sentence ends with them."""

import re

# A number, or what it is a number of, follows the abbreviation: `no. 5`, `no. of seats`.
_WORD = re.compile(
    r"""(?<![\w.])(?:(no)\.(?=["”’')\]]*(?:\s*\Z|\s+["“‘'(]*[A-Z]))"""
    r"""|(nos|fig|ed|eds|est|ch|vol)\.(?=["”’')\]]*\s*\Z))"""
)


def with_last_words_kept(sentences: str) -> str:
    """Returns one or more sentences in which `The answer is no.` does not end in a number.

    The front end of hibari (0.2.1, `RE_ABBREV`) takes such a word and its full stop for an
    abbreviation wherever they stand; with a space between them, which it drops later, it does not.
    """
    return _WORD.sub(lambda match: f"{match[1] or match[2]} .", sentences)
