"""The engines of this box while it runs: who put each here, and changing that.

The one place where the database, the settings, the workers and the card change together.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import anyio.to_thread
from rhapsode_contract import RhapsodeError

from rhapsode.registry import removed_engine
from rhapsode.residency.manager import ResidencyManager
from rhapsode.residency.visits import CutShort
from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.live import LiveSettings
from rhapsode.settings.loaded import Origin
from rhapsode.state import StateDatabase
from rhapsode.workers.fleet import Fleet
from rhapsode.workers.installed import is_outdated

logger = logging.getLogger(__name__)


class LiveRoster:
    """Every engine of this box, the disabled ones of its operator too."""

    def __init__(
        self,
        entries: Mapping[str, EngineEntry],
        origins: Mapping[str, Origin],
        database: StateDatabase | None,
        live: LiveSettings,
        fleet: Fleet,
        residency: ResidencyManager,
    ) -> None:
        """Args:
        entries: Every engine's, as the core starts.
        origins: Who wrote each.
        database: Where installs are recorded; None where nothing can be.
        live: Told of engines that come and go, for their settings.
        fleet: Their workers.
        residency: Keeps everybody off an engine while it changes.
        """
        self._entries = dict(entries)
        self._origins = dict(origins)
        self._database = database
        self._live = live
        self._fleet = fleet
        self._residency = residency

    @property
    def database(self) -> StateDatabase | None:
        """Where installs are recorded."""
        return self._database

    def origin(self, engine: str) -> Origin | None:
        """Returns who put an engine here; None where it is not here."""
        return self._origins.get(engine)

    def entry(self, engine: str) -> EngineEntry | None:
        """Returns how an engine is started, or None where it is not here."""
        return self._entries.get(engine)

    def worker_version(self, engine: str) -> str | None:
        """Returns the version of the worker SDK in an engine's virtualenv, where that is known."""
        return self._fleet.worker(engine).worker_version if engine in self._fleet else None

    def is_outdated(self, engine: str) -> bool | None:
        """Returns whether that is not this core's version; None where it is not known."""
        return is_outdated(self.worker_version(engine))

    def engines(self) -> Sequence[str]:
        """Returns every engine that is here, in the order of their ids."""
        return sorted(self._entries)

    async def register(self, engine: str, entry: EngineEntry, *, wait_seconds: float) -> None:
        """Records an engine and puts it in service, in place of the one of this id.

        The database comes first: a core that dies after that starts with the new one, and one that
        dies before with the old (contract § 10, "Reinstalling").

        Raises:
            Conflict: It still speaks after `wait_seconds`; nothing has changed.
            Internal: It could not be recorded; nothing has changed.
        """
        async with self._residency.shut(engine, wait_seconds):
            # Whoever leaves now leaves a change that is whole.
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(
                    self._recorded_in().record_engine, engine, _written(entry)
                )
                self._entries[engine] = entry
                self._origins[engine] = "database"
                self._live.declare(engine, entry, "database")
                self._fleet.declare(engine, entry)
                await self._residency.free(engine, "terminate")

    async def remove(self, engine: str) -> None:
        """Ends an engine's worker and takes it out of service and out of the database.

        Raises:
            Conflict: It is speaking; nothing has changed.
            Internal: The database could not be written; nothing has changed.
        """
        async with self._residency.shut(engine, 0.0):
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._recorded_in().remove_engine, engine)
                del self._entries[engine], self._origins[engine]
                self._live.forget(engine)
                # Before its process ends: whoever waits for that would start the next one.
                self._fleet.worker(engine).withdraw()
                self._residency.dismiss(engine, lambda: removed_engine(engine))
                try:
                    await self._residency.free(engine, "terminate")
                except RhapsodeError as error:
                    # On another machine, where it cannot be told: nothing of it is here any more.
                    logger.warning("left as it is: %s", error.message, extra={"engine": engine})
                    self._residency.forget(engine)
                self._fleet.withdraw(engine)

    async def fetch(
        self, engine: str, variant: str, progress: Callable[[int, int | None], None]
    ) -> None:
        """Has an engine's worker download the weights of a variant; loads nothing.

        Raises:
            Unsupported: It fetches nothing; the weights come with the first load.
            RhapsodeError: They were not fetched.
            ForeignError: So it was, and the worker said so with a code that we do not know.
        """
        while True:
            try:
                # A model of the engine that expires meanwhile would take the process along.
                with self._residency.visit(engine):
                    await self._fleet.worker(engine).fetch(variant, progress)
                return
            except CutShort as error:
                # What is there of the weights stays, so it goes on where it was.
                logger.info("fetching again: %s", error.message, extra={"engine": engine})

    def _recorded_in(self) -> StateDatabase:
        assert self._database is not None  # without one every change was refused before
        return self._database


def _written(entry: EngineEntry) -> dict[str, Any]:
    """Returns an entry as the database keeps it: as a config file would spell it."""
    return entry.model_dump(mode="json", by_alias=True, exclude_defaults=True)
