"""Every worker of this core."""

from collections.abc import Callable, Iterator, Mapping

import anyio.abc
from rhapsode_contract import EngineSummary

from rhapsode.registry import unknown_engine
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.local import Surroundings
from rhapsode.workers.worker import Worker


class Fleet:
    """One worker for each engine in service."""

    def __init__(
        self,
        entries: Mapping[str, EngineEntry],
        surroundings: Surroundings,
        tasks: anyio.abc.TaskGroup,
        gone: Callable[[str], None],
        found: Callable[[str, str], None],
    ) -> None:
        """Prepares the workers; starts none.

        Args:
            entries: The engines in service.
            surroundings: What their workers are started in.
            tasks: Where they live; cancelling the group ends their processes.
            gone: Called with an engine each time its model is gone: its process has ended, or a
                load has failed.
            found: Called with an engine and a variant that nobody here has loaded.
        """
        self._workers = {
            engine: Worker(engine, entry, surroundings, tasks, gone, found)
            for engine, entry in entries.items()
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

    def is_loaded(self, engine: str) -> bool:
        """Whether an engine's model is there, or is being loaded."""
        return self.worker(engine).resident_variant is not None

    def is_stranded(self, engine: str) -> bool:
        """Whether an engine's process is up without a model, and has failed to load one."""
        return self.worker(engine).is_stranded

    def size_bytes(self, engine: str) -> int | None:
        """Returns what an engine's model takes, as its worker measured it."""
        return self.worker(engine).size_bytes

    async def end(self, engine: str) -> None:
        """Ends an engine's process; returns once it is reaped and its memory is back.

        Raises:
            RhapsodeError: It is on another machine, and could not be told.
        """
        await self.worker(engine).end()

    async def unload(self, engine: str) -> None:
        """Takes an engine's model off the card; its process stays, unless it hangs.

        Raises:
            RhapsodeError: It is on another machine, and could not be told.
        """
        await self.worker(engine).unload()

    def kill(self) -> None:
        """Kills every process at once, for a core that must not wait."""
        for worker in self._workers.values():
            worker.kill()

    def summaries(self) -> tuple[EngineSummary, ...]:
        """Returns what is known of each engine without asking anybody."""
        return tuple(worker.summary() for worker in self._workers.values())
