"""Classes of characters, written as the inside of a regular expression's brackets."""

import unicodedata
from typing import Final


def _marks(*ranges: tuple[int, int]) -> str:
    """Returns the combining marks in the ranges, their ends included."""
    return "".join(
        chr(code)
        for first, last in ranges
        for code in range(first, last + 1)
        if unicodedata.category(chr(code))[0] == "M"
    )


HIRAGANA: Final = "\u3041-\u3096\u309d-\u309f"

SOUTH_EAST_ASIAN: Final = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109f\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17d3\u17dc\u17dd"  # Khmer
    "\u1950-\u19ab\u1a20-\u1a7c\uaa80-\uaadf"  # Tai Le, New Tai Lue, Tai Tham, Tai Viet
    "\u1b05-\u1b4b\ua984-\ua9c0"  # Balinese, Javanese
)
"""Scripts that part phrases with a space, and words with nothing."""

UNSPACED: Final = (
    SOUTH_EAST_ASIAN + "\u0f40-\u0f84\u0f88-\u0fbc"  # Tibetan
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u303b-\u303c"
    "\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3100-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Han
    "\ua000-\ua48c"  # Yi
)
"""Letters and marks of the scripts that write words without a space between them."""

WIDE_ENDERS: Final = "。．！？｡"
"""What ends a sentence whether a space follows or not."""

ENDERS: Final = (
    WIDE_ENDERS + "։؟۔।॥"  # Armenian, Arabic and Urdu, Devanagari and its neighbours
    "።፧፨"  # Ethiopic
    "။។៕།༎"  # Burmese, Khmer, Tibetan
    "\u037e᙮᠃᠉߹꓿꘎꛳꛷꩝꩞꩟꯫⸮‽⁇⁈⁉"
)
"""What ends a sentence and does nothing else, in whatever language."""

CLAUSE_MARKS: Final = ",;:–—―،؛、，；：､٫·\u0387՝፣፤፥፦၊៖༔߸᠂᠈꛵꘍⸴⸲"
"""What ends a clause, where it ends a word."""

OPENERS: Final = "([{（［｛〔【〖《〈「『｢“‘«‹„‚¿¡༺༼⟨"
CLOSING: Final = ")]}）］｝〕】〗》〉」』｣”’»›\"'༻༽⟩"
CLOSERS: Final = CLOSING.replace("]", r"\]")
"""`CLOSING`, as it must be written within brackets."""

DASHES: Final = "—―"

_SMALL_KANA: Final = "ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ\u31f0-\u31ffｧ-ｯ"
_COMBINING: Final = (
    _marks((0x0300, 0x036F), (0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF))
    + _marks((0x1A00, 0x1B7F), (0x3020, 0x30FF), (0xA980, 0xAAFF))
    + "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef"
)
# The vowels of Thai and Lao that are letters to Unicode and are read after a consonant.
_THAI_FOLLOWERS: Final = "\u0e2f\u0e30\u0e32\u0e33\u0e45\u0e46\u0eb0\u0eb2\u0eb3\u0ec6"

SOFT_FOLLOWERS: Final = (
    "ー〜～゠々〻ゝゞヽヾｰﾞﾟ"  # signs that repeat or prolong
    "\u200c\u200d\u2060\ufeff\U0001f3fb-\U0001f3ff" + _SMALL_KANA + _COMBINING + _THAI_FOLLOWERS
)
"""Letters and marks that belong to the letter before them."""

HARD_FOLLOWERS: Final = (
    CLOSERS + ENDERS + DASHES + "、，､：；・･…‥၊៖༔!?,.;:%％‰°℃¢\u0f0b\u0f0c\u1361\u200b"
)
"""Punctuation that hangs on the word before it."""

NEVER_FIRST: Final = SOFT_FOLLOWERS + HARD_FOLLOWERS
"""What a piece that is cut between two letters never begins with."""

NEVER_LAST: Final = (
    OPENERS + "\u0e40-\u0e44\u0ec0-\u0ec4"  # the vowels that are written before their consonant
    "\u1039\u17d2\u0f84\u1a60\u1b44\ua9c0"  # what stacks the next consonant under the last
    "\u200d\u2060"
)
"""What a piece that is cut between two letters never ends with."""
