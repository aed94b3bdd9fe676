"""How what a caller sent is shown in a message, however long or odd it is."""

from collections.abc import Iterable
from typing import Final

_SHOWN_CHARACTERS: Final = 60
_LISTED_NAMES: Final = 20
_JSON_WORDS: Final = {True: "true", False: "false", None: "null"}


def shown(value: object) -> str:
    """Returns a value on one line: JSON's own word for it, or its repr, cut where it is long."""
    if value is None or isinstance(value, bool):
        return _JSON_WORDS[value]
    return cut(repr(value))


def cut(text: str, characters: int = _SHOWN_CHARACTERS) -> str:
    """Returns `text`, its end replaced by `…` where it is longer than `characters`."""
    return text if len(text) <= characters else text[:characters] + "…"


def listed(names: Iterable[str], at_most: int = _LISTED_NAMES) -> str:
    """Returns the names that are allowed, or `none`; of more than `at_most` how many more."""
    held = [*names]
    rest = len(held) - at_most
    text = ", ".join(cut(name) for name in held[:at_most]) or "none"
    return f"{text} and {rest} more" if rest > 0 else text


def there_are(names: Iterable[str], at_most: int = _LISTED_NAMES) -> str:
    """Returns `there is a`, `there are a, b`, or `there are none`."""
    held = [*names]
    return f"there {'is' if len(held) == 1 else 'are'} {listed(held, at_most)}"
