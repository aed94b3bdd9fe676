"""Installing, reinstalling, removing engines and pulling weights: every refusal, and the jobs.

A refusal comes before there is a job, so that who asked hears it at once.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Literal

from rhapsode_contract import (
    Conflict,
    InstallJob,
    ReinstallOutdated,
    Skipped,
    UnknownEngine,
    Unsupported,
)
from rhapsode_contract.quoting import shown, there_are

from rhapsode.installs.acceptance import accepted_licence, is_acceptance_due
from rhapsode.installs.catalog import CatalogRecord
from rhapsode.installs.jobs import Jobs
from rhapsode.installs.roster import Roster
from rhapsode.installs.slots import Slots, is_same
from rhapsode.installs.steps import EnvironmentBuilder, Steps, fetch_weights
from rhapsode.installs.venv_folder import VenvFolder
from rhapsode.registry import unknown_engine


class Installer:
    """What the management routes ask for, held against what this box is and does."""

    def __init__(
        self,
        catalog: Mapping[str, CatalogRecord],
        builder: EnvironmentBuilder,
        roster: Roster,
        jobs: Jobs,
        venv_dir: Path,
    ) -> None:
        """Args:
        catalog: The engines that exist.
        builder: Makes virtualenvs.
        roster: The engines of this box.
        jobs: Where the work is done.
        venv_dir: `install.venvDir`, where virtualenvs lie.
        """
        self._catalog = catalog
        self._builder = builder
        self._roster = roster
        self._jobs = jobs
        self._slots = Slots(venv_dir)
        self._venv_dir = venv_dir

    def install(self, engine: str, *, pull: str | None, accept: str | None) -> InstallJob:
        """Queues the install of an engine that is not here.

        Args:
            engine: Its id.
            pull: A variant whose weights are fetched too, or None.
            accept: The weights licence that the caller accepts, or None.

        Raises:
            Unsupported: There is no state database, or no such variant.
            UnknownEngine: It is not in the catalog.
            Conflict: It is here already, has a job, or its place is another engine's.
            BadRequest: Its weights licence has to be accepted, or another was.
        """
        steps = self._steps()
        record = self._record(engine)
        origin = self._roster.origin(engine)
        if origin == "config":
            raise _operators(engine)
        if origin == "database":
            raise Conflict(
                f"engine: {engine!r} is installed already; POST /engines/{engine}/pull gets weights"
                f" for it, POST /engines/{engine}/reinstall builds it anew",
                field="engine",
            )
        self._jobs.check_idle(engine)
        self._check_place(engine)
        accepted = accepted_licence(engine, record.license, accept)
        if pull is not None and pull not in record.variants:
            raise Unsupported(
                f"pull: {engine} has no variant {shown(pull)}; {there_are(record.variants)}",
                field="pull",
            )
        work = partial(steps.install, record, accepted, pull)
        return self._jobs.submit(engine, "install", work, pull).shape()

    def reinstall(self, engine: str, *, accept: str | None) -> InstallJob:
        """Queues building an installed engine anew.

        Args:
            engine: Its id.
            accept: The weights licence that the caller accepts, or None.

        Raises:
            UnknownEngine: It is not here, or not in the catalog.
            Conflict: It is the operator's, has a job, or its place is another engine's.
            BadRequest: Its weights licence has to be accepted, or another was.
        """
        self._check_installed(engine)
        record = self._record(engine)
        self._jobs.check_idle(engine)
        self._check_place(engine)
        return self._queue_reinstall(record, accept)

    def reinstall_outdated(self) -> ReinstallOutdated:
        """Queues building anew every installed engine that is behind, but for those for which
        somebody has to be asked.
        """
        jobs: list[InstallJob] = []
        skipped: list[Skipped] = []
        for engine in sorted(self._roster.engines()):
            if self._roster.origin(engine) != "database" or not self._roster.is_outdated(engine):
                continue
            record = self._catalog.get(engine)
            if record is None:
                skipped.append(Skipped(engine=engine, reason="uncatalogued"))
            elif (reason := self._why_not(record)) is not None:
                skipped.append(Skipped(engine=engine, reason=reason))
            else:
                jobs.append(self._queue_reinstall(record, None))
        return ReinstallOutdated(jobs=tuple(jobs), skipped=tuple(skipped))

    def pull(self, engine: str, variant: str) -> InstallJob:
        """Queues fetching the weights of a variant, for any engine in service.

        Raises:
            UnknownEngine: It is not here.
            Unsupported: The catalog says that there is no such variant, or nothing to fetch. Of an
                engine that is not from there only its worker knows.
            Conflict: It has a job.
        """
        entry = self._roster.entry(engine)
        if entry is None or entry.disabled:
            raise unknown_engine(engine, self._in_service())
        record = self._catalog.get(engine)
        if record is not None and self._roster.origin(engine) == "database":
            _check_fetched(record, variant)
        work = partial(fetch_weights, self._roster, engine, variant)
        return self._jobs.submit(engine, "pull", work, variant).shape()

    def _in_service(self) -> list[str]:
        entries = ((engine, self._roster.entry(engine)) for engine in self._roster.engines())
        return [engine for engine, entry in entries if entry is not None and not entry.disabled]

    async def uninstall(self, engine: str) -> None:
        """Removes an installed engine; returns once its virtualenv is deleted. Its weights stay.

        Raises:
            UnknownEngine: It is not here.
            Conflict: It is the operator's, has a job, or is speaking.
            Internal: It is removed, and its virtualenv could not be deleted.
        """
        self._check_installed(engine)
        with self._jobs.reserved(engine):
            entry = self._roster.entry(engine)
            venvs = [] if entry is None or entry.venv is None else [entry.venv]
            doomed = [
                path
                for path in self._slots.removable(engine, venvs)
                if self._tenant(path, engine) is None
            ]
            await self._steps().uninstall(engine, doomed)

    def _queue_reinstall(self, record: CatalogRecord, accept: str | None) -> InstallJob:
        recorded = self._recorded(record.id)
        accepted = accepted_licence(record.id, record.license, accept, recorded)
        work = partial(self._steps().reinstall, record, accepted)
        return self._jobs.submit(record.id, "reinstall", work).shape()

    def _steps(self) -> Steps:
        database = self._roster.database
        if database is None:
            raise Unsupported(
                "this server has no state database, and so nowhere to record an install"
            )
        folder = VenvFolder(self._venv_dir, database.identity, database.path)
        return Steps(self._builder, self._roster, self._slots, folder)

    def _why_not(self, record: CatalogRecord) -> Literal["busy", "licence"] | None:
        if not self._jobs.is_idle(record.id) or self._squatter(record.id) is not None:
            return "busy"
        is_due = is_acceptance_due(record.license, self._recorded(record.id))
        return "licence" if is_due else None

    def _recorded(self, engine: str) -> str | None:
        entry = self._roster.entry(engine)
        return None if entry is None else entry.accepted

    def _record(self, engine: str) -> CatalogRecord:
        record = self._catalog.get(engine)
        if record is None:
            raise UnknownEngine(
                f"engine: the catalog has no {shown(engine)}; {there_are(self._catalog)}",
                field="engine",
            )
        return record

    def _check_installed(self, engine: str) -> None:
        origin = self._roster.origin(engine)
        if origin is None:
            raise unknown_engine(engine, self._roster.engines())
        if origin == "config":
            raise _operators(engine)

    def _check_place(self, engine: str) -> None:
        squatter = self._squatter(engine)
        if squatter is not None:
            raise Conflict(
                f"engine: the virtualenv of {squatter!r} lies where that of {engine!r} would",
                field="engine",
            )

    def _squatter(self, engine: str) -> str | None:
        """Returns another engine that runs from a slot of this one, which nobody may touch."""
        tenants = (self._tenant(slot, engine) for slot in self._slots.of(engine))
        return next((tenant for tenant in tenants if tenant is not None), None)

    def _tenant(self, path: Path, besides: str) -> str | None:
        for other in self._roster.engines():
            entry = self._roster.entry(other)
            if other == besides or entry is None or entry.venv is None:
                continue
            if is_same(entry.venv, path):
                return other
        return None


def _operators(engine: str) -> Conflict:
    return Conflict(
        f"engine: {engine!r} is configured in this server's file, and its operator's to change",
        field="engine",
    )


def _check_fetched(record: CatalogRecord, variant: str) -> None:
    if variant not in record.variants:
        raise Unsupported(
            f"variant: {record.id} has no {shown(variant)}; {there_are(record.variants)}",
            field="variant",
        )
    if variant not in record.weights_bytes:
        raise Unsupported(
            f"variant: {record.id} fetches nothing; its weights come with its package",
            field="variant",
        )
