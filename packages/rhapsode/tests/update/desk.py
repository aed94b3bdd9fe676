"""Updates of a core, with a clock and a setting that a test turns."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from rhapsode.update.distribution import MARKER
from rhapsode.update.updates import Updates

from .site import Site

MINUTE = 60.0
HOUR = 60 * MINUTE


@dataclass
class Turned:
    """What a test turns."""

    seconds: float = 1_000_000.0
    is_on: bool = True


@dataclass(frozen=True)
class Desk:
    """Updates, and what they go by."""

    updates: Updates
    turned: Turned
    tasks: anyio.abc.TaskGroup

    def pass_time(self, seconds: float) -> None:
        """Lets so much of it go by."""
        self.turned.seconds += seconds


@asynccontextmanager
async def open_desk(
    site: Site,
    *,
    is_on: bool = True,
    environ: Mapping[str, str] | None = None,
    version: str = "0.1.0",
    check_seconds: float = 10.0,
    marker: Path = MARKER,
) -> AsyncGenerator[Desk]:
    """Gives the updates of a core that asks `site`."""
    turned = Turned(is_on=is_on)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            updates = Updates(
                lambda: turned.is_on,
                environ or {},
                tasks,
                version=version,
                release_url_of_api=site.url,
                clock=lambda: turned.seconds,
                check_seconds=check_seconds,
                marker=marker,
            )
            yield Desk(updates, turned, tasks)
            tasks.cancel_scope.cancel()
