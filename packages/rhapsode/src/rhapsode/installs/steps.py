"""What a job of each kind does, step by step (contract § 10, "Installing" and "Reinstalling")."""

import logging
from collections.abc import Sequence
from os.path import lexists
from pathlib import Path
from typing import Final, Protocol

import anyio
import anyio.to_thread
from rhapsode_contract import Internal, RhapsodeError, Unsupported

from rhapsode.installs.catalog import CatalogRecord
from rhapsode.installs.report import Report
from rhapsode.installs.roster import Roster
from rhapsode.installs.slots import Slots, is_same
from rhapsode.installs.venv_folder import VenvFolder
from rhapsode.registry import default_module
from rhapsode.settings.entry import EngineEntry

logger = logging.getLogger(__name__)

REGISTER_WAIT_SECONDS: Final = 600.0
"""How long a reinstall lets the engine go on speaking before it gives up."""


class EnvironmentBuilder(Protocol):
    """Makes virtualenvs that hold an engine."""

    async def build(self, record: CatalogRecord, slot: Path, report: Report) -> None:
        """Does the steps `venv`, `packages` and `verify` in `slot`, removing what lies there.

        Raises:
            RhapsodeError: It could not. Nothing is left running, and `slot` may hold remains.
        """
        ...


class Steps:
    """The work of jobs, over the box that they change."""

    def __init__(
        self, builder: EnvironmentBuilder, roster: Roster, slots: Slots, folder: VenvFolder
    ) -> None:
        """Args:
        builder: Fills slots.
        roster: The engines of this box.
        slots: Where virtualenvs lie.
        folder: What they lie in, for the roster's database.
        """
        self._builder = builder
        self._roster = roster
        self._slots = slots
        self._folder = folder

    async def install(
        self, record: CatalogRecord, accepted: str | None, pull: str | None, report: Report
    ) -> None:
        """Builds an engine that is not here, and puts it in service.

        Args:
            record: What to build.
            accepted: The weights licence that was accepted, to be recorded.
            pull: A variant whose weights are fetched too, or None.
            report: Told of everything.

        Raises:
            RhapsodeError: What the job fails with.
            OSError: A file that could not be written or deleted.
        """
        slot, other = self._slots.of(record.id)
        report.step("venv")
        await self._folder.claim()
        await self._folder.remove(other)
        await self._build(record, slot, report)
        entry = EngineEntry(venv=slot, module=_module_to_record(record), accepted=accepted)
        await self._register(record, entry, slot, report, wait_seconds=0.0)
        if pull is not None:
            await self._fetch_if_it_can(record.id, pull, report)

    async def reinstall(self, record: CatalogRecord, accepted: str | None, report: Report) -> None:
        """Builds an engine beside itself, and puts the new one in service.

        Args:
            record: What to build.
            accepted: The weights licence that was accepted, to be recorded.
            report: Told of everything.

        Raises:
            RhapsodeError: What the job fails with.
            OSError: A file that could not be written or deleted.
        """
        before = self._roster.entry(record.id)
        assert before is not None  # an engine that has a job is not removed
        slot = self._slots.free(record.id, before.venv)
        report.step("venv")
        await self._folder.claim()
        await self._build(record, slot, report)
        # What the operator may have written into an entry that was imported stays in it.
        after = before.model_copy(
            update={
                "venv": slot,
                "module": _module_to_record(record),
                "accepted": accepted,
                "command": None,
                "url": None,
                "token": None,
                "ca_file": None,
            }
        )
        await self._register(record, after, slot, report, wait_seconds=REGISTER_WAIT_SECONDS)
        await self._remove_old(record.id, before.venv, slot, report)

    async def uninstall(self, engine: str, doomed: Sequence[Path]) -> None:
        """Takes an engine out of service, and deletes its virtualenvs.

        Args:
            engine: Has no job, and gets none meanwhile.
            doomed: What of the folder goes with it.

        Raises:
            Conflict: It is speaking, or the folder is another database's; nothing has changed.
            Internal: It is out of service, and not everything could be deleted.
        """
        there = _lying(doomed)
        if there:
            await self._claim_for_removal(engine)
        await self._roster.remove(engine)
        failures: list[str] = []
        for path in there:
            try:
                await self._folder.remove(path)
            except OSError as failure:
                failures.append(str(failure))
        if failures:
            raise Internal(f"{engine} is removed, but not all of its files: {'; '.join(failures)}")

    async def _claim_for_removal(self, engine: str) -> None:
        try:
            await self._folder.claim()
        except OSError as failure:
            raise Internal(f"{engine} was not removed: {failure}") from None

    async def _fetch_if_it_can(self, engine: str, variant: str, report: Report) -> None:
        try:
            await fetch_weights(self._roster, engine, variant, report)
        except Unsupported as refusal:
            # They arrive with the first load, as they would have without this step.
            report.line(f"nothing fetched: {refusal.message}")

    async def _build(self, record: CatalogRecord, slot: Path, report: Report) -> None:
        try:
            await self._builder.build(record, slot, report)
        except Exception:
            await self._discard(slot, report)
            raise

    async def _register(
        self,
        record: CatalogRecord,
        entry: EngineEntry,
        slot: Path,
        report: Report,
        *,
        wait_seconds: float,
    ) -> None:
        report.step("register")
        if wait_seconds:
            report.line(f"{record.id} may finish what it says, for {wait_seconds:g} seconds")
        try:
            await self._roster.register(record.id, entry, wait_seconds=wait_seconds)
        except Exception:
            # What is recorded is what the next start runs, whatever went wrong after that.
            if not await anyio.to_thread.run_sync(self._is_recorded, record.id, slot):
                await self._discard(slot, report)
            raise

    def _is_recorded(self, engine: str, slot: Path) -> bool:
        """Says whether the database has an engine in a slot; it does where it cannot be asked."""
        database = self._roster.database
        assert database is not None  # where there is none nothing is built
        try:
            entry = database.engines().get(engine, {})
        except RhapsodeError:
            return True
        return entry.get("venv") == str(slot)

    async def _discard(self, slot: Path, report: Report) -> None:
        """Gives back the room of what was not finished; the next job would remove it too."""
        try:
            with anyio.CancelScope(shield=True):  # the job has failed, and should say with what
                await self._folder.remove(slot)
        except OSError as failure:
            report.line(f"{slot} was not removed: {failure}", "warn")

    async def _remove_old(self, engine: str, venv: Path | None, slot: Path, report: Report) -> None:
        if venv is None or is_same(venv, slot) or not self._slots.contains(venv):
            return
        try:
            await self._folder.remove(venv)
        except OSError as failure:
            logger.warning("%s was not removed: %s", venv, failure, extra={"engine": engine})
            report.line(f"{venv} was not removed: {failure}", "warn")


async def fetch_weights(roster: Roster, engine: str, variant: str, report: Report) -> None:
    """Fetches the weights of a variant, which changes nothing that the box keeps a record of.

    Raises:
        Unsupported: The engine fetches nothing.
        RhapsodeError: They were not fetched.
    """
    report.step("weights")
    await roster.fetch(engine, variant, report.bytes)


def _lying(paths: Sequence[Path]) -> list[Path]:
    return [path for path in paths if lexists(path)]


def _module_to_record(record: CatalogRecord) -> str | None:
    return None if record.module == default_module(record.id) else record.module
