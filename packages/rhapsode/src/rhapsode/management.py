"""What manages the box: the roster, the catalog, and the jobs that change what is installed."""

from collections.abc import Mapping
from dataclasses import dataclass

import anyio

from rhapsode.installs.builder import Builder
from rhapsode.installs.catalog import CatalogRecord
from rhapsode.installs.feed import Feed
from rhapsode.installs.installer import Installer
from rhapsode.installs.jobs import Jobs
from rhapsode.installs.listing import CatalogListing
from rhapsode.installs.roster import Roster
from rhapsode.settings.model import InstallSettings
from rhapsode.version import VERSION
from rhapsode.workers.declaration import Label


@dataclass(frozen=True)
class Management:
    """The parts that the management routes ask."""

    installer: Installer

    jobs: Jobs

    feed: Feed

    catalog: CatalogListing

    working: anyio.CancelScope
    """Around the work of jobs."""

    @classmethod
    def of(
        cls,
        catalog: Mapping[str, CatalogRecord],
        roster: Roster,
        install: InstallSettings,
        environ: Mapping[str, str],
    ) -> "Management":
        """Ties the parts to each other; `work` does the jobs.

        Args:
            catalog: The engines that exist.
            roster: Those of this box.
            install: The settings that the core started with.
            environ: The core's own environment.
        """
        feed = Feed()
        jobs = Jobs(feed)
        builder = Builder(install, environ, VERSION)
        installer = Installer(catalog, builder, roster, jobs, install.venv_dir)
        listing = CatalogListing(catalog, roster, jobs)
        return cls(installer, jobs, feed, listing, anyio.CancelScope())

    async def work(self) -> None:
        """Does the jobs until `stop`."""
        with self.working:
            await self.jobs.run()
        self.feed.close()

    def stop(self) -> None:
        """Stops the job that runs, with all that it started, fails those that wait, and lets the
        feeds end (contract § 10, "Jobs").
        """
        self.working.cancel()


def labels_of(catalog: Mapping[str, CatalogRecord]) -> dict[str, Label]:
    """Returns what is said of each engine of the catalog while nobody has asked its worker."""
    return {
        engine: Label(record.display_name, record.license) for engine, record in catalog.items()
    }
