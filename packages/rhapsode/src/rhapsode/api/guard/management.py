"""Which routes manage the box, and which are open to everybody.

Every route of the server stands in one of the two lists; a test holds it.
"""

import re
from typing import Final

MANAGEMENT: Final = (
    ("POST", "/engines/{engine}/install"),
    ("POST", "/engines/{engine}/reinstall"),
    ("POST", "/engines/{engine}/pull"),
    ("POST", "/engines/{engine}/unload"),
    ("DELETE", "/engines/{engine}"),
    ("POST", "/engines/{engine}/voices"),
    ("DELETE", "/engines/{engine}/voices/{voice}"),
    ("GET", "/installs"),
    ("POST", "/installs/outdated"),
    ("GET", "/installs/{job}"),
    ("GET", "/installs/{job}/events"),
    ("GET", "/settings"),
    ("PATCH", "/settings"),
)
"""Methods and paths. At these paths every other method is managing too, unless `OPEN` has it."""

OPEN: Final = (
    ("POST", "/speak"),
    ("POST", "/v1/audio/speech"),
    ("POST", "/engines/{engine}/dialogue"),
    ("GET", "/engines"),
    ("GET", "/engines/{engine}/capabilities"),
    ("GET", "/engines/{engine}/voices"),
    ("GET", "/engines/{engine}/voices/{voice}/preview"),
    ("GET", "/health"),
    ("GET", "/metrics"),
    ("GET", "/residency"),
    ("GET", "/catalog"),
    ("GET", "/update"),
    ("POST", "/update/check"),
    ("GET", "/openapi.json"),
)
"""Methods and paths that anybody may call."""


def is_management(method: str, path: str) -> bool:
    """Says whether a request is for a management route.

    Args:
        method: In capitals.
        path: As the router gets it.
    """
    found = _ANY_MANAGED.match(path)
    return found is not None and method not in _OPEN_METHODS[found.lastindex or 0]


_PATHS: Final = tuple(dict.fromkeys(path for _, path in MANAGEMENT))


def _open_methods(path: str) -> frozenset[str]:
    methods = {method for method, open_path in OPEN if open_path == path}
    # Starlette answers HEAD wherever it answers GET.
    return frozenset(methods | {"HEAD"} if "GET" in methods else methods)


def _pattern(path: str) -> str:
    # What Starlette makes of a path, with its peculiarity: `$` also stands before a last line
    # break, so that `/settings%0A` reaches the route, and `[^/]+` takes line breaks as well.
    return "^" + re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)) + "$"


_ANY_MANAGED: Final = re.compile("|".join(f"({_pattern(path)})" for path in _PATHS))
"""One group a path, since most requests match none and should learn that in one go."""

_OPEN_METHODS: Final = (frozenset[str](), *(_open_methods(path) for path in _PATHS))
"""By the number of the group."""
