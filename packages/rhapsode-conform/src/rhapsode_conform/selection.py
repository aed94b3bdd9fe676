"""Which checks are run."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from rhapsode_conform.check import Check


class NoCheck(ValueError):
    """A word that chooses nothing."""


def select(
    checks: Sequence[Check], *, only: Sequence[str] = (), skip: Sequence[str] = ()
) -> tuple[Check, ...]:
    """Returns the checks that `only` names and `skip` does not, in their order.

    A word is an id (`6.params.unknown`), the beginning of ids (`6.params`, `6`), a family
    (`dials`) or a pattern (`*.unknown`). No `only` means all.

    Raises:
        NoCheck: A word names no check, or none is left.
    """
    for word in (*only, *skip):
        if not any(_names(word, check) for check in checks):
            raise NoCheck(f"{word!r} names no check; see --list")
    chosen = tuple(
        check
        for check in checks
        if (not only or any(_names(word, check) for word in only))
        and not any(_names(word, check) for word in skip)
    )
    if not chosen:
        raise NoCheck("no check is left to run; see --list")
    return chosen


def _names(word: str, check: Check) -> bool:
    is_beginning = check.id == word or check.id.startswith(f"{word}.")
    return is_beginning or word == check.family or fnmatchcase(check.id, word)
