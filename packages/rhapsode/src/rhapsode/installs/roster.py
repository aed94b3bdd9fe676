"""What installing needs to know of the engines of this box, and to change."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from rhapsode.settings.entry import EngineEntry
from rhapsode.state import StateDatabase


class Roster(Protocol):
    """The engines of this box while it runs."""

    @property
    def database(self) -> StateDatabase | None:
        """Where engines are recorded; None for a core that was embedded without one."""
        ...

    def origin(self, engine: str) -> Literal["config", "database"] | None:
        """Returns who put an engine here: the operator's file, disabled or not, or an install;
        None where it is not here.
        """
        ...

    def entry(self, engine: str) -> EngineEntry | None:
        """Returns how an engine is started, or None where it is not here."""
        ...

    def worker_version(self, engine: str) -> str | None:
        """Returns the version of `rhapsode-worker` in an engine's virtualenv, where that can be
        read.
        """
        ...

    def is_outdated(self, engine: str) -> bool | None:
        """Returns whether that version is not this core's; None where it is not known."""
        ...

    def engines(self) -> Sequence[str]:
        """Returns every engine that is here, in the order of their ids."""
        ...

    async def register(self, engine: str, entry: EngineEntry, *, wait_seconds: float) -> None:
        """Records an engine and puts it in service, in place of the one of this id.

        The database is written first, under the lock a load takes; then the old worker ends, and
        the engine is declared anew.

        Args:
            engine: Its id.
            entry: How it is started from now on.
            wait_seconds: How long it may go on speaking.

        Raises:
            Conflict: It still speaks after that; nothing has changed.
        """
        ...

    async def remove(self, engine: str) -> None:
        """Ends an engine's worker and takes it out of service and out of the database.

        Raises:
            Conflict: It is speaking; nothing has changed.
        """
        ...

    async def fetch(
        self, engine: str, variant: str, progress: Callable[[int, int | None], None]
    ) -> None:
        """Has an engine's worker download the weights of a variant; loads nothing.

        Args:
            engine: Whose process is started where it is down.
            variant: What to download.
            progress: Told of the bytes so far, and of those in all where they are known.

        Raises:
            Unsupported: It fetches nothing; the weights come with the first load.
            RhapsodeError: They were not fetched.
        """
        ...
