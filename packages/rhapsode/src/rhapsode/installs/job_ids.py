"""Ids of jobs: text that sorts in the order in which the jobs were made, after a restart too."""

import secrets
from collections.abc import Callable
from datetime import datetime
from typing import Final

_DIGITS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no letter that is taken for another or for a digit."""

_LENGTH: Final = 26
_RANDOM_BITS: Final = 80


class JobIds:
    """Makes ULIDs: 48 bits of milliseconds, then 80 that nobody else has drawn."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Args:
        now: The time of day; it may go backwards, the ids do not.
        """
        self._now = now
        self._last = 0

    def next(self) -> str:
        """Returns an id above every earlier one."""
        milliseconds = int(self._now().timestamp() * 1000)
        drawn = milliseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        self._last = max(drawn, self._last + 1)
        return _written(self._last)


def _written(value: int) -> str:
    return "".join(_DIGITS[value >> 5 * place & 31] for place in reversed(range(_LENGTH)))
