"""Numbers that the engine's own reading drops parts of, or fails on."""

import re
from typing import Final

_COUNTABLE_DIGITS: Final = 15
"""Longer runs are read digit by digit, as card numbers are; from 37 on the engine would fail."""

_LONG = re.compile(rf"\d(?:,?\d){{{_COUNTABLE_DIGITS},}}")
_DAY_MONTH_YEAR = re.compile(r"(?<![\w.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\.?\w)", re.ASCII)
_ADDRESS = re.compile(r"(?<![\w.])\d+(?:\.\d+){3}(?!\.?\w)")
_VERSION = re.compile(r"(?<![^\Wv])(?<!\.)\d+(?:\.\d+){2,}(?!\.?\d)")
_TIMES = re.compile(r"(?<=\d)\s?\*\s?(?=\d)")
_NOTE = re.compile(r"\b([A-G])#(?!\w)")


def with_numerals_spoken(text: str) -> str:
    """Returns `text` with numbers that keep their dots, and none too long to count."""
    text = _LONG.sub(lambda match: " ".join(match[0].replace(",", "")), text)
    text = _DAY_MONTH_YEAR.sub(_date, text)
    text = _ADDRESS.sub(lambda match: match[0].replace(".", " dot "), text)
    text = _VERSION.sub(lambda match: match[0].replace(".", " point "), text)
    text = _TIMES.sub(" times ", text)
    return _NOTE.sub(lambda match: f"{match[1]} sharp", text)


def _date(match: re.Match[str]) -> str:
    """`24.12.2024` as the engine knows a date."""
    day, month = int(match[1]), int(match[2])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return match[0]
    return f"{match[3]}-{month:02}-{day:02}"
