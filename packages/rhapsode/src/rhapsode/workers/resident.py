"""The model in a worker's process, as the core knows it: loaded once for whoever waits."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

import anyio
import anyio.abc
from rhapsode_contract import (
    Capabilities,
    ForeignError,
    Health,
    LoadRequest,
    ModelUnavailable,
    RhapsodeError,
)

from rhapsode.workers.lifecycle import MODEL, Model, ModelEvent, advance
from rhapsode.workers.outcome import Failure, Outcome
from rhapsode.workers.session import Session, parse

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class _Load:
    session: Session
    variant: str
    scope: anyio.CancelScope
    outcome: Outcome[Session] = field(default_factory=Outcome[Session])


class Resident:
    """Owner of what the core knows about one worker's model."""

    def __init__(
        self,
        engine: str,
        limit_seconds: float,
        unload_seconds: float,
        tasks: anyio.abc.TaskGroup,
        hung: Callable[[RhapsodeError], None],
        lost: Callable[[], None],
    ) -> None:
        """Begins with nothing loaded.

        Args:
            engine: For the log.
            limit_seconds: What a load may take without any news of progress.
            unload_seconds: What an unload may take.
            tasks: Where loads run: whoever asked for one may leave, the load goes on.
            hung: Called when a load took too long, or an unload did not end well; the process is
                of no more use.
            lost: Called when a load has failed; whoever wanted the model may have left since.
        """
        self._engine = engine
        self._limit_seconds = limit_seconds
        self._unload_seconds = unload_seconds
        self._tasks = tasks
        self._hung = hung
        self._lost = lost
        self._state = Model.UNLOADED
        self._variant: str | None = None
        self._load: _Load | None = None
        self._health: Health | None = None
        self._changes = 0

    @property
    def changes(self) -> int:
        """How often its state has changed: what was asked before the last change is old news."""
        return self._changes

    @property
    def state(self) -> Model:
        return self._state

    @property
    def variant(self) -> str | None:
        """The variant that is loaded or being loaded."""
        return self._variant

    @property
    def size_bytes(self) -> int | None:
        """What the model takes of its device, as the worker measured it at its load."""
        return self._health.model_bytes if self._health is not None else None

    def is_loading_other_than(self, variant: str | None) -> bool:
        """Whether a load is under way, and of another variant."""
        return self._load is not None and self._load.variant != variant

    async def ensure(self, session: Session, variant: str) -> None:
        """Returns once `variant` is loaded in the process of `session`, which loads no other.

        Raises:
            RhapsodeError: It did not load, or the process is gone.
            ForeignError: The worker refused with a code that we do not know.
        """
        if self._load is not None:
            await self._load.outcome.result()
        elif session.exit is not None:
            raise type(session.exit)(session.exit.message)
        elif self._state is not Model.LOADED or self._variant != variant:
            await self._begin(session, variant).outcome.result()

    @property
    def device(self) -> str | None:
        """Where it is, such as `cuda:0`."""
        return self._health.device if self._health is not None else None

    async def unload(self, session: Session) -> None:
        """Returns once nothing is loaded; no load may be under way. A worker that does not manage
        is of no more use.

        Raises:
            RhapsodeError: It did not unload.
            ForeignError: So, with a code that we do not know.
        """
        if self._state is not Model.LOADED or session.exit is not None:
            return
        self._fire(ModelEvent.UNLOAD, self._variant)
        try:
            await session.ask("POST", "/unload", seconds=self._unload_seconds)
        except (RhapsodeError, ForeignError) as error:
            if session.exit is None:  # else it is no more, and another may be there already
                self._hung(ModelUnavailable(f"unload: {error.message}"))
            raise
        if session.exit is None:
            self._fire(ModelEvent.GONE, None)

    def adopt(self, variant: str, health: Health | None = None) -> bool:
        """Takes note of a model that is there though nobody here has loaded it; returns whether
        that is news.
        """
        if self._load is not None or self._state is Model.UNLOADING:
            return False
        is_news = self._state is not Model.LOADED or self._variant != variant
        if is_news:
            self._fire(ModelEvent.LOAD, variant)
            self._fire(ModelEvent.SUCCEED, variant)
        self._health = health
        return is_news

    def forget(self) -> bool:
        """Takes note that the model is not there any more; returns whether it was thought to be."""
        if self._state is not Model.LOADED:
            return False
        self._fire(ModelEvent.UNLOAD, self._variant)
        self._fire(ModelEvent.GONE, None)
        return True

    def note_progress(self) -> None:
        """Gives a load that is still downloading its time again."""
        if self._load is not None:
            self._load.scope.deadline = anyio.current_time() + self._limit_seconds

    def process_exited(self, failure: Failure) -> None:
        """Takes note that the model is gone with its process."""
        load, self._load = self._load, None
        self._fire(ModelEvent.EXIT, None)
        if load is not None:
            load.outcome.fail(failure)

    def _begin(self, session: Session, variant: str) -> _Load:
        deadline = anyio.current_time() + self._limit_seconds
        load = _Load(session, variant, anyio.CancelScope(deadline=deadline))
        self._load = load
        self._fire(ModelEvent.LOAD, variant)
        self._tasks.start_soon(self._run, load)
        return load

    async def _run(self, load: _Load) -> None:
        failure: Failure | None = None
        with load.scope:
            try:
                wanted = LoadRequest(variant=load.variant).to_json()
                answer = await load.session.ask("POST", "/load", wanted, seconds=inf)
                self._health = parse(Health, answer.body, "/load")
                # `current` names the samples this variant makes, which bound a buffered answer.
                load.session.capabilities = await load.session.read(
                    Capabilities, "/capabilities", seconds=inf
                )
            except (RhapsodeError, ForeignError) as error:
                failure = error
        if load.scope.cancelled_caught:
            failure = ModelUnavailable(
                f"load: {load.variant!r} was not loaded within {self._limit_seconds:g} s"
            )
        if self._load is not load:
            return  # the process went first, and took the load with it
        self._load = None
        if failure is None:
            self._fire(ModelEvent.SUCCEED, load.variant)
            load.outcome.succeed(load.session)
            return
        self._fire(ModelEvent.FAIL, None)
        load.outcome.fail(failure)
        self._lost()
        if load.scope.cancelled_caught:
            self._hung(ModelUnavailable(str(failure)))

    def _fire(self, event: ModelEvent, variant: str | None) -> None:
        before, self._state = self._state, advance(MODEL, self._state, event)
        self._variant = variant
        self._changes += 1
        if self._state is not Model.LOADED:
            self._health = None
        if before is not self._state:
            logger.info(
                "model: %s, %s -> %s",
                event.value,
                before.value,
                self._state.value,
                extra={"engine": self._engine},
            )
