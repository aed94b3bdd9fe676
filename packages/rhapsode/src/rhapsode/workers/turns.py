"""The requests that one worker has from us, in the order in which they came.

A worker speaks them in that order, so what a request may take is counted from the moment when
every earlier one has ended (design, "Deadlines").
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager


class Turns:
    """Who is in front of whom."""

    def __init__(self) -> None:
        self._line: list[Callable[[], None]] = []

    def __len__(self) -> int:
        return len(self._line)

    @contextmanager
    def take(self, began: Callable[[], None]) -> Generator[None]:
        """Stands in line for the length of the block.

        Args:
            began: Called once, when nobody is in front any more; at once where nobody is. It is
                called from whoever leaves the line, so it must only note the time.
        """
        is_first = not self._line
        self._line.append(began)
        if is_first:
            began()
        try:
            yield
        finally:
            was_first = self._line[0] is began
            self._line.remove(began)
            if was_first and self._line:
                self._line[0]()
