"""The parts of a declaration that are more than one word; each error names its part."""

import math
import re
from collections.abc import Collection
from typing import Final, cast

_DIAL_NAME: Final = re.compile(r"[a-z][A-Za-z0-9]*")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


def check_dial(name: str, dial: object) -> None:
    """Checks one dial.

    Raises:
        ValueError: Its name is not in camelCase, or it is not three numbers in order.
    """
    if not _DIAL_NAME.fullmatch(name):
        raise ValueError(f"dial {name!r}: a name in camelCase is needed, such as 'cfgWeight'")
    values: tuple[object, ...] = (
        tuple(cast("tuple[object, ...]", dial)) if isinstance(dial, tuple | list) else ()
    )
    numbers = [
        value
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    ]
    if len(values) != 3 or len(numbers) != 3:
        raise ValueError(f"dial {name!r} is {dial!r}; (smallest, largest, default) is needed")
    smallest, largest, default = numbers
    if not smallest <= default <= largest:
        raise ValueError(f"dial {name!r}: {smallest} <= {default} <= {largest} is wrong")


def check_languages(languages: object) -> None:
    """Checks the languages of a variant.

    Raises:
        ValueError: They are no list of tags with at least one in it.
    """
    tags = checked_list("languages", languages)
    if not tags:
        raise ValueError("languages is empty; None says that there is nothing to choose")
    for tag in tags:
        if not isinstance(tag, str) or not _LANGUAGE.fullmatch(tag):
            raise ValueError(f"languages: {tag!r} is no BCP 47 tag")


def check_reference_seconds(seconds: object) -> None:
    """Checks the shortest and the longest reference.

    Raises:
        ValueError: They are not two numbers in order.
    """
    values = checked_list("reference_seconds", seconds)
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(values) != 2 or len(numbers) != 2 or not 0 <= numbers[0] <= numbers[1] < math.inf:
        raise ValueError(f"reference_seconds is {seconds!r}; (shortest, longest) is needed")


def checked_list(name: str, value: object) -> Collection[object]:
    """Returns `value` if it is a collection of things, and not one text.

    Raises:
        ValueError: It is not; the message calls it `name`.
    """
    if isinstance(value, str) or not isinstance(value, Collection):
        raise ValueError(f"{name} is {value!r}; a list is needed")
    return cast("Collection[object]", value)
