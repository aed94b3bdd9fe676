"""The question whether a worker hangs that has failed a request, or takes very long over one."""

from collections.abc import Callable

import anyio
import anyio.abc
from rhapsode_contract import ModelUnavailable, RhapsodeError
from rhapsode_http import request_id

from rhapsode.workers.patience import Patience
from rhapsode.workers.session import Session, health_of


class Suspicion:
    """Looks, one look at a time, and condemns a process that does not answer."""

    def __init__(
        self,
        patience: Patience,
        tasks: anyio.abc.TaskGroup,
        condemn: Callable[[RhapsodeError], None],
    ) -> None:
        """Args:
        patience: How long an answer may take.
        tasks: Where it looks.
        condemn: Called with what is wrong with a process that has not answered.
        """
        self._patience = patience
        self._tasks = tasks
        self._condemn = condemn
        self._looked = anyio.Event()
        self._looked.set()

    @property
    def is_open(self) -> bool:
        """Whether somebody looks just now."""
        return not self._looked.is_set()

    async def settled(self) -> None:
        """Waits for the end of the look."""
        await self._looked.wait()

    def look_at(self, session: Session) -> None:
        """Begins a look, unless there is one."""
        if not self.is_open:
            self._looked = anyio.Event()
            self._tasks.start_soon(self._look_at, session, self._looked)

    async def _look_at(self, session: Session, looked: anyio.Event) -> None:
        request_id.set(None)
        seconds = self._patience.probe_seconds
        # A connection that was kept says nothing of a worker that takes no new one.
        async with session.stranger() as client:
            health = await health_of(client, seconds)
        if health is None and not await session.has_ended_by_itself():
            self._condemn(
                ModelUnavailable(
                    f"the engine did not answer within {seconds:g} s how it is, and is replaced"
                )
            )
        looked.set()
