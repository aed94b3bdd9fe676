"""The way to end a fetch early."""

import threading
import time
from collections.abc import Callable
from typing import Final

from rhapsode_contract import ModelUnavailable

_POLL_SECONDS: Final = 0.1


class Stop:
    """Asks, between two pieces of work, whether the fetch should go on."""

    def __init__(self, is_asked: Callable[[], bool]) -> None:
        self._is_asked = is_asked
        self._never = threading.Event()

    def check(self) -> None:
        """Does nothing while the fetch should go on.

        Raises:
            ModelUnavailable: It was asked to stop. What has arrived stays, to be resumed.
        """
        if self._is_asked():
            raise ModelUnavailable("weights: the fetch was stopped before it was done")

    def rest(self, seconds: float) -> None:
        """Waits, and notices within a tenth of a second that it should stop.

        Raises:
            ModelUnavailable: As `check`.
        """
        end = time.monotonic() + seconds
        self.check()
        while (left := end - time.monotonic()) > 0:
            self._never.wait(min(left, _POLL_SECONDS))
            self.check()
