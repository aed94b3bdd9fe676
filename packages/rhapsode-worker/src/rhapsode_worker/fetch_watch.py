"""Whether anybody waits for a fetch (contract § 8, "fetch")."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_LEFT: Final[ContextVar[threading.Event]] = ContextVar("fetch_left")


@contextmanager
def fetch_watch() -> Generator[None]:
    """Runs a block with somebody waiting; once it has ended, `is_fetch_abandoned` is true in the
    threads that it started.
    """
    left = threading.Event()
    token = _LEFT.set(left)
    try:
        yield
    finally:
        left.set()
        _LEFT.reset(token)


def is_fetch_abandoned() -> bool:
    """Whether the fetch that runs on this thread was left by whoever asked for it."""
    left = _LEFT.get(None)
    return left is not None and left.is_set()
