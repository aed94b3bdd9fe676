"""What exists, and what of it this box has: the catalog as clients see it."""

from collections.abc import Mapping
from typing import Literal

from rhapsode_contract import CatalogEntry

from rhapsode.installs.catalog import CatalogRecord
from rhapsode.installs.jobs import Jobs
from rhapsode.installs.roster import Roster


class CatalogListing:
    """The catalog, held against the engines of this box and its jobs."""

    def __init__(self, catalog: Mapping[str, CatalogRecord], roster: Roster, jobs: Jobs) -> None:
        """Args:
        catalog: The engines that exist.
        roster: The engines of this box.
        jobs: Some of which install.
        """
        self._catalog = catalog
        self._roster = roster
        self._jobs = jobs

    def entries(self) -> tuple[CatalogEntry, ...]:
        """Returns what is known now, in the catalog's order; starts nothing."""
        return tuple(self._entry(record) for record in self._catalog.values())

    def _entry(self, record: CatalogRecord) -> CatalogEntry:
        engine = record.id
        origin = self._roster.origin(engine)
        return CatalogEntry(
            id=engine,
            display_name=record.display_name,
            license=record.license,
            package=record.package,
            default_variant=record.default_variant,
            installed=self._installed(engine, is_here=origin is not None),
            managed=origin == "database",
            worker_version=self._roster.worker_version(engine) if origin else None,
            outdated=self._roster.is_outdated(engine) if origin else None,
        )

    def _installed(self, engine: str, *, is_here: bool) -> Literal["no", "installing", "yes"]:
        if is_here:
            return "yes"
        # An engine that is not here has no job of another kind.
        return "no" if self._jobs.active(engine) is None else "installing"
