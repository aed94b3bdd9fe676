"""The engine's own threads, and the line in front of them.

`load`, `unload` and `speak` run here and nowhere else, because inference modes are local to a
thread and a generator may be closed only where it runs. The threads are daemons: a model that
never returns must not keep a drained worker alive.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rhapsode_contract import Overloaded

logger = logging.getLogger(__name__)


def _never() -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Job:
    """Something that the engine does in its turn."""

    run: Callable[[], None]
    """Called once, on one of the threads; it reports its own outcome and raises nothing."""

    needs_all: Callable[[], bool] = _never
    """Asked when its turn comes: whether nothing else may run beside it."""


class EngineThreads:
    """Runs jobs in the order they came, as many at once as the engine can.

    One that needs the engine for itself waits for those before it to end, and those behind it
    wait for it. Every method may be called from any thread; none waits.
    """

    def __init__(self, count: int, queue_limit: int) -> None:
        """Starts the threads.

        Args:
            count: How many jobs may run at once, at least 1.
            queue_limit: Most jobs that wait, of whatever kind.
        """
        self._count = count
        self._queue_limit = queue_limit
        self._line: deque[Job] = deque()
        self._running: set[Job] = set()
        self._is_held = False  # by a job that needs the engine for itself
        self._changed = threading.Condition()
        for number in range(count):
            threading.Thread(target=self._work, name=f"engine-{number}", daemon=True).start()

    @property
    def waiting(self) -> int:
        """How many jobs wait for their turn."""
        return len(self._line)

    def join_line(self, job: Job) -> None:
        """Puts a job at the end of the line.

        Raises:
            Overloaded: The line is full.
        """
        with self._changed:
            line = [*self._line, job]
            # A job that a free thread is about to take does not wait.
            if len(line) - self._starting(line) > self._queue_limit:
                raise Overloaded(f"{self._queue_limit} requests wait already; try again soon")
            self._line.append(job)
            self._changed.notify()

    def withdraw(self, job: Job) -> bool:
        """Takes a job out of the line; returns False where its turn has come already."""
        with self._changed:
            try:
                self._line.remove(job)
            except ValueError:
                return False
            self._changed.notify()  # it may have been what held up those behind it
            return True

    def share(self) -> None:
        """Lets others run beside the running job that calls this, from here on."""
        with self._changed:
            self._is_held = False
            self._changed.notify()

    def _starting(self, line: Sequence[Job]) -> int:
        """How many of the first jobs in `line` free threads are about to take."""
        free = 0 if self._is_held else self._count - len(self._running)
        for place, job in enumerate(line[:free]):
            if job.needs_all():
                return place or int(not self._running)
        return min(free, len(line))

    def _work(self) -> None:
        while True:
            with self._changed:
                while (job := self._take_next()) is None:
                    self._changed.wait()
                # One thread is woken at a time, and wakes the next: all at once would fight
                # over the lock for milliseconds.
                self._changed.notify()
            try:
                job.run()
            except BaseException:  # the thread is all the engine has; it survives whatever comes
                logger.exception("a job of the engine failed")
            with self._changed:
                self._running.discard(job)
                self._is_held = False

    def _take_next(self) -> Job | None:
        """Starts the head of the line if it may run now."""
        if not self._line or self._is_held:
            return None
        job = self._line[0]
        if job.needs_all():
            if self._running:
                return None
            self._is_held = True
        self._line.popleft()
        self._running.add(job)
        return job
