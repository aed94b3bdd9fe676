"""A deadline that moves from one stage of a request to the next."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import inf

import anyio


class Clock:
    """One deadline that moves from stage to stage; what is late is in the error."""

    def __init__(self) -> None:
        self._scope = anyio.CancelScope()
        self._error: Callable[[], Exception] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a stage has begun and not ended."""
        return self._scope.deadline != inf

    def start(self, seconds: float, error: Callable[[], Exception]) -> None:
        """Begins a stage, and ends the one before.

        Args:
            seconds: What it may take.
            error: Makes what is raised where it takes longer.
        """
        self._error = error
        self._scope.deadline = anyio.current_time() + seconds

    def stop(self) -> None:
        """Ends the stage; nothing is late until the next one begins."""
        self._scope.deadline = inf

    @contextmanager
    def running(self) -> Generator[None]:
        """Cuts the block off when a stage takes too long, and raises that stage's error."""
        with self._scope:
            yield
        if self._scope.cancelled_caught and self._error is not None:
            raise self._error()
