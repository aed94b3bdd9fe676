"""Every worker of this core."""

from collections.abc import Iterator, Mapping

import anyio.abc
from rhapsode_contract import EngineSummary

from rhapsode.registry import unknown_engine
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.worker import Surroundings, Worker


class Fleet:
    """One worker for each engine in service."""

    def __init__(
        self,
        entries: Mapping[str, EngineEntry],
        surroundings: Surroundings,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """Prepares the workers; starts none."""
        self._workers = {
            engine: Worker(engine, entry, surroundings, tasks) for engine, entry in entries.items()
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._workers)

    def __len__(self) -> int:
        return len(self._workers)

    def worker(self, engine: str) -> Worker:
        """Returns an engine's worker.

        Raises:
            UnknownEngine: This box has no such engine.
        """
        worker = self._workers.get(engine)
        if worker is None:
            raise unknown_engine(engine, self._workers)
        return worker

    async def end(self, engine: str) -> None:
        """Ends an engine's process and returns once it is reaped."""
        await self.worker(engine).end()

    def kill(self) -> None:
        """Kills every process at once, for a core that must not wait."""
        for worker in self._workers.values():
            worker.kill()

    def summaries(self) -> tuple[EngineSummary, ...]:
        """Returns what is known of each engine without asking anybody."""
        return tuple(worker.summary() for worker in self._workers.values())
