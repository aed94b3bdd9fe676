"""Every worker of this core."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import anyio.abc
from rhapsode_contract import EngineSummary

from rhapsode.registry import unknown_engine
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.declaration import Label
from rhapsode.workers.local import Surroundings
from rhapsode.workers.worker import Worker

_NO_LABELS: Final[Mapping[str, Label]] = {}


class Fleet:
    """One worker for each engine in service."""

    def __init__(
        self,
        entries: Mapping[str, EngineEntry],
        surroundings: Surroundings,
        tasks: anyio.abc.TaskGroup,
        gone: Callable[[str], None],
        found: Callable[[str, str], None],
        labels: Mapping[str, Label] = _NO_LABELS,
    ) -> None:
        """Prepares the workers; starts none.

        Args:
            entries: The engines in service.
            surroundings: What their workers are started in.
            tasks: Where they live; cancelling the group ends their processes.
            gone: Called with an engine each time its model is gone: its process has ended, or a
                load has failed.
            found: Called with an engine and a variant that nobody here has loaded.
            labels: What the catalog says of the engines that it knows.
        """
        self._surroundings = surroundings
        self._tasks = tasks
        self._gone = gone
        self._found = found
        self._labels = labels
        self._workers: dict[str, Worker] = {}
        for engine, entry in entries.items():
            self.declare(engine, entry)

    def declare(self, engine: str, entry: EngineEntry) -> None:
        """Puts an engine into service, or lets the next process of one that is be another.

        The worker stays the same object, so whoever waits for it gets the new process.
        """
        worker = self._workers.get(engine)
        if worker is not None:
            worker.change(entry)
            return
        self._workers[engine] = Worker(
            engine,
            entry,
            self._surroundings,
            self._tasks,
            self._gone,
            self._found,
            self._labels.get(engine),
        )

    def withdraw(self, engine: str) -> None:
        """Takes an engine out of service. Its process has ended, and no other one starts."""
        worker = self._workers.pop(engine, None)
        if worker is not None:
            worker.withdraw()

    def __iter__(self) -> Iterator[str]:
        return iter(self._workers)

    def __contains__(self, engine: object) -> bool:
        return engine in self._workers

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
        worker = self._workers.get(engine)  # it may be withdrawn while its last lease ends
        return worker is not None and worker.resident_variant is not None

    def is_stranded(self, engine: str) -> bool:
        """Whether an engine's process is up without a model, and has failed to load one."""
        worker = self._workers.get(engine)
        return worker is not None and worker.is_stranded

    def is_unheard(self, engine: str) -> bool:
        """Whether an engine's process was to end, could not be told, and was not met again."""
        worker = self._workers.get(engine)
        return worker is not None and worker.is_unheard

    def size_bytes(self, engine: str) -> int | None:
        """Returns what an engine's model takes, as its worker measured it."""
        worker = self._workers.get(engine)
        return worker.size_bytes if worker is not None else None

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
