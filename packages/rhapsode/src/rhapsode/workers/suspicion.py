"""The question whether a worker hangs that has failed a request, or takes very long over one."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
import anyio.abc
from rhapsode_contract import ModelUnavailable, RhapsodeError
from rhapsode_http import first_of, request_id

from rhapsode.workers.patience import Patience
from rhapsode.workers.session import Session, health_of
from rhapsode.workers.shortage import Shortage

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class _Look:
    session: Session

    fault: RhapsodeError | None
    """What is wrong with one that answers all the same."""

    over: anyio.Event = field(default_factory=anyio.Event)


class Suspicion:
    """Looks, one look at a time. A process of ours that does not answer is condemned; a worker on
    another machine is given up: it is most likely the network that is in the way, and what it is
    told then reaches it when that is over.
    """

    def __init__(
        self,
        patience: Patience,
        tasks: anyio.abc.TaskGroup,
        condemn: Callable[[RhapsodeError], None],
    ) -> None:
        """Args:
        patience: How long an answer may take.
        tasks: Where it looks.
        condemn: Called with what is wrong with a worker that has to be told to end.
        """
        self._patience = patience
        self._tasks = tasks
        self._condemn = condemn
        self._look: _Look | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody looks just now."""
        return self._look is not None and not self._look.over.is_set()

    async def settled(self) -> None:
        """Waits for the end of the look."""
        if self._look is not None:
            await self._look.over.wait()

    def look_at(self, session: Session, fault: RhapsodeError | None = None) -> None:
        """Begins a look, unless there is one.

        Args:
            session: Whom to look at.
            fault: For what it is condemned if it answers.
        """
        look = self._look
        if look is None or look.over.is_set() or look.session is not session:
            self._look = look = _Look(session, fault)
            self._tasks.start_soon(self._run, look)
        elif fault is not None:
            look.fault = fault

    async def _run(self, look: _Look) -> None:
        request_id.set(None)
        try:
            # What has ended needs no verdict, and whoever waits for one waits for nothing.
            await first_of(look.session.ended.wait, partial(self._judge, look))
        except Exception:
            # Nobody has thought of this one. It says nothing of the worker, and whatever it is,
            # other engines go on speaking.
            logger.exception("a look at it broke off", extra={"engine": look.session.engine})
        finally:
            look.over.set()

    async def _judge(self, look: _Look) -> None:
        session, seconds = look.session, self._patience.probe_seconds
        try:
            # A connection that was kept says nothing of a worker that takes no new one.
            async with session.stranger() as client:
                is_silent = await health_of(client, seconds) is None
        except Shortage as error:
            logger.warning("not looked at: %s", error.message, extra={"engine": session.engine})
            is_silent = False
        if not is_silent:
            if look.fault is not None:
                self._condemn(look.fault)
        elif not await session.has_ended_by_itself():
            if session.process_id is None:
                session.given_up.set()
                await session.ended.wait()
            else:
                self._condemn(_silent(seconds))


def _silent(seconds: float) -> ModelUnavailable:
    return ModelUnavailable(
        f"the engine did not answer within {seconds:g} s how it is, and is replaced"
    )
