"""Numbers that the engine's own reading drops parts of, or fails on."""

import re
import unicodedata
from typing import Final

_COUNTABLE_DIGITS: Final = 15
"""Longer runs are read digit by digit, as card numbers are; from 37 on the engine would fail."""

_LONG = re.compile(rf"\d(?:,?\d){{{_COUNTABLE_DIGITS},}}")
_DAY_MONTH_YEAR = re.compile(r"(?<![\w.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\.?\w)", re.ASCII)
_ADDRESS = re.compile(r"(?<![\w.])\d+(?:\.\d+){3}(?!\.?\w)")
_VERSION = re.compile(r"(?<![^\Wv])(?<!\.)\d+(?:\.\d+){2,}(?!\.?\d)")
_TIMES = re.compile(r"(?<=\d)\s?\*\s?(?=\d)")
_BELOW_ZERO = re.compile(r"(?<![\w.,)\]%])[-−–](?=[$€£¥]\d)")
_BIG = re.compile(r"(?<=\d)\s?(bn|mn|tn)\b", re.IGNORECASE)
_BIG_WORDS: Final = {"bn": "billion", "mn": "million", "tn": "trillion"}
_POINT = re.compile(r"(?<![\w.,])\.(\d+)(?![\w.])")
_FEET = re.compile(r"""(?<![\w.])(\d{1,2})['’′]\s?(\d{1,2})(?:["”″]|''|(?=\s))""")
_PAIRS = re.compile(r"(?<![\w/.])(?:50/50|24/7)(?![\w/])")
_PAIR_WORDS: Final = {"50/50": "fifty-fifty", "24/7": "twenty-four seven"}
_NOTE = re.compile(r"\b([A-G])#(?!\w)")
# Digits to `str.isdigit`, which the engine asks, but not to `int`, which it then calls.
_RAISED = re.compile(r"(?<=[0-9A-Za-z)])([⁺⁻]?)([⁰¹²³⁴-⁹]+)")


def with_numerals_spoken(text: str) -> str:
    """Returns `text` with numbers that keep their dots, and none too long to count."""
    text = _RAISED.sub(_power, text)
    text = "".join(map(_decimal, text))
    text = _LONG.sub(lambda match: " ".join(match[0].replace(",", "")), text)
    text = _DAY_MONTH_YEAR.sub(_date, text)
    text = _ADDRESS.sub(lambda match: match[0].replace(".", " dot "), text)
    text = _VERSION.sub(lambda match: match[0].replace(".", " point "), text)
    text = _TIMES.sub(" times ", text)
    text = _BELOW_ZERO.sub("minus ", text)
    text = _BIG.sub(lambda match: f" {_BIG_WORDS[match[1].lower()]}", text)
    text = _POINT.sub(lambda match: f"point {' '.join(match[1])}", text)
    text = _FEET.sub(r"\1 foot \2", text)
    text = _PAIRS.sub(lambda match: _PAIR_WORDS[match[0]], text)
    return _NOTE.sub(lambda match: f"{match[1]} sharp", text)


def _date(match: re.Match[str]) -> str:
    """`24.12.2024` as the engine knows a date."""
    day, month = int(match[1]), int(match[2])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return match[0]
    return f"{match[3]}-{month:02}-{day:02}"


def _power(match: re.Match[str]) -> str:
    """`10⁷` as the engine reads `10^7`; squares and cubes it knows."""
    sign = {"": "", "⁺": "", "⁻": "minus "}[match[1]]
    if not sign and match[2] in {"²", "³"}:
        return {"²": " squared", "³": " cubed"}[match[2]]
    return f" to the power of {sign}{''.join(map(_digit, match[2]))}"


def _decimal(character: str) -> str:
    """A circled or lowered digit as a plain one; any other character as it is."""
    if character.isdecimal() or not character.isdigit():
        return character
    # H₂O is one word, ① an item of a list.
    digit = _digit(character)
    return digit if "SUBSCRIPT" in unicodedata.name(character, "") else f" {digit} "


def _digit(character: str) -> str:
    return str(unicodedata.digit(character))
