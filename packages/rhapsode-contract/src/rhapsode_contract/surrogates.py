"""Which field of a body holds what is no Unicode, for a message that names it.

JSON can write half of a surrogate pair, and a body can hold bytes that are not UTF-8. Both are
refused while the JSON is parsed, which knows the position and not yet the field.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, cast

_LOOKED_AT: Final = 4096
"""Values that are looked at. A body of 1 MiB can hold 500,000, and a loop may not block so long."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

Place = tuple[str | int, ...]


def place_of_surrogate(body: bytes | str) -> Place | None:
    """Returns where the first string that is no Unicode lies in a JSON body.

    None where there is no such string among the first few thousand, or the body is no JSON for
    another reason too.
    """
    # Undecodable bytes become lone surrogates, and are found as these are.
    text = body if isinstance(body, str) else body.decode("utf-8", "surrogateescape")
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    strings = islice(_strings(value), _LOOKED_AT)
    return next((place for place, string in strings if _SURROGATE.search(string)), None)


def _strings(value: object) -> Iterator[tuple[Place, str]]:
    """Yields each value below `value` in order, what is no string as an empty one.

    Keys are yielded at the place of their values. Lazy and without recursion, for any body.
    """
    waiting: list[Iterator[tuple[Place, object]]] = [iter([((), value)])]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        place, inner = found
        yield place, str(place[-1]) if place else ""
        yield place, inner if isinstance(inner, str) else ""
        if isinstance(inner, dict):
            waiting.append(_below(place, iter(cast("dict[str, Any]", inner).items())))
        elif isinstance(inner, list):
            waiting.append(_below(place, enumerate(cast("list[Any]", inner))))


def _below(
    place: Place, items: Iterator[tuple[str | int, object]]
) -> Iterator[tuple[Place, object]]:
    return (((*place, name), value) for name, value in items)
