"""Where an engine is called from, so that a child it forks never comes back as a second worker."""

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager

logger = logging.getLogger(__name__)


class HomeProcess:
    """The process that this was made in, the worker.

    An adapter, or a library of its, may fork and let the child run on out of `speak`: into the
    SDK, with the worker's sockets in its hands. It ends where it would come back.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()

    def end_child(self, status: int = 0) -> None:
        """Ends this process at once if it is a child of that one."""
        if os.getpid() != self._pid:
            os._exit(status)

    @contextmanager
    def kept(self) -> Generator[None]:
        """Ends a child that was forked in this block, at its end and at its exception."""
        try:
            yield
        except SystemExit as leaving:
            self.end_child(leaving.code if isinstance(leaving.code, int) else 1)
            raise
        except BaseException:
            if os.getpid() != self._pid:
                logger.exception("a child that the engine forked failed")
            self.end_child(1)
            raise
        self.end_child()
