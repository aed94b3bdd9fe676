"""The worker's one model: resident or not, loaded on demand (contract § 3)."""

import gc
import logging
from enum import Enum
from typing import Final

from rhapsode_contract import RhapsodeError

from rhapsode_worker.engine import Engine
from rhapsode_worker.failures import as_engine_error, as_load_error
from rhapsode_worker.home_process import HomeProcess
from rhapsode_worker.memory import UsedBytes, believable, empty_caches, whole_bytes

logger = logging.getLogger(__name__)


class ModelState(Enum):
    """Where the model is; the values are the wire's."""

    UNLOADED = "unloaded"
    LOADING = "loading"
    LOADED = "loaded"
    UNLOADING = "unloading"


class ModelEvent(Enum):
    """What can happen to it."""

    LOAD = "load"
    SUCCEED = "succeed"
    FAIL = "fail"
    UNLOAD = "unload"
    GONE = "gone"


TRANSITIONS: Final[dict[tuple[ModelState, ModelEvent], ModelState]] = {
    (ModelState.UNLOADED, ModelEvent.LOAD): ModelState.LOADING,
    (ModelState.LOADING, ModelEvent.SUCCEED): ModelState.LOADED,
    (ModelState.LOADING, ModelEvent.FAIL): ModelState.UNLOADED,
    (ModelState.LOADED, ModelEvent.UNLOAD): ModelState.UNLOADING,
    (ModelState.UNLOADING, ModelEvent.GONE): ModelState.UNLOADED,
}


class IllegalTransition(RuntimeError):
    """A bug in the SDK; never shown to a caller."""


def advance(state: ModelState, event: ModelEvent) -> ModelState:
    """Returns the state that follows `event` in `state`.

    Raises:
        IllegalTransition: The table has no such pair.
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalTransition(f"{event.value!r} while {state.value!r}") from None


class Model:
    """Owner of what is resident. Changed on the engine's threads only, by jobs that need all
    of them; anybody may read its state.
    """

    def __init__(self, engine: Engine, used_bytes: UsedBytes = lambda: None) -> None:
        """Args:
        engine: The adapter.
        used_bytes: Measures what its device holds in use.
        """
        self._engine = engine
        self._used_bytes = used_bytes
        self._home = HomeProcess()
        self._measured: int | None = None
        self._state = ModelState.UNLOADED
        self._variant: str | None = None

    @property
    def state(self) -> ModelState:
        return self._state

    @property
    def variant(self) -> str | None:
        """The resident variant, or the one that is being loaded or unloaded."""
        return self._variant

    @property
    def resident(self) -> str | None:
        """The resident variant; None while none is whole."""
        return self._variant if self._state is ModelState.LOADED else None

    @property
    def used_bytes(self) -> int | None:
        """What the device holds in use now, whoever uses it; None where nobody can tell."""
        return believable(self._used_bytes())

    @property
    def size_bytes(self) -> int | None:
        """What the resident model takes of the device: as the adapter knows it, else as measured
        across its load. None where neither is to be had, and while nothing is resident.
        """
        return self._measured if self._state is ModelState.LOADED else None

    def ensure(self, variant: str) -> None:
        """Returns with `variant` resident, loading it first where it is not.

        Raises:
            RhapsodeError: It did not load, twice.
        """
        if self.resident == variant:
            return
        self.unload()
        self._fire(ModelEvent.LOAD, variant)
        before = self._used_bytes()
        failure = self._load_or_retry(variant)
        if failure is not None:
            self._fire(ModelEvent.FAIL, None)
            raise failure
        self._measured = self._size_since(before)
        self._fire(ModelEvent.SUCCEED, variant)

    def unload(self) -> None:
        """Returns with nothing resident.

        Raises:
            RhapsodeError: The adapter failed; what it held may still be held.
        """
        if self._state is ModelState.UNLOADED:
            return
        self._fire(ModelEvent.UNLOAD, self._variant)
        failure: RhapsodeError | None = None
        try:
            with self._home.kept():
                self._engine.unload()
        except BaseException as error:  # as in _load
            logger.exception("unload failed")
            failure = as_engine_error(error, "the model did not unload")
        self._forget()
        self._fire(ModelEvent.GONE, None)
        if failure is not None:
            raise failure

    def _size_since(self, before: int | None) -> int | None:
        """Returns what a load took, the adapter's own figure first.

        What a first try stranded counts: it goes with this model, when the process ends.
        """
        try:
            known = believable(whole_bytes(self._engine.memory_bytes()))
        except Exception:  # a figure that is missing must not cost a model that is loaded
            logger.exception("memory_bytes failed")
            known = None
        after = self._used_bytes()
        if known is not None or before is None or after is None:
            return known
        return believable(after - before)

    def _load_or_retry(self, variant: str) -> RhapsodeError | None:
        """Loads; a failure is cleared away and tried once more (contract § 3).

        Each step is outside the `except` block of the one before: while that is open, the
        traceback keeps the failed model's objects alive.
        """
        if self._load(variant) is None:
            return None
        self._clear_away()
        logger.warning("loading %s once more", variant)
        failure = self._load(variant)
        if failure is not None:
            self._clear_away()
        return failure

    def _load(self, variant: str) -> RhapsodeError | None:
        self._engine.variant = variant
        try:
            with self._home.kept():
                self._engine.load(variant)
        # Libraries call sys.exit, and a cancelled asyncio.run of the adapter's raises what is no
        # Exception: on this thread both are failures of the load like any other.
        except BaseException as error:
            logger.exception("loading %s failed", variant)
            return as_load_error(error)
        return None

    def _clear_away(self) -> None:
        """Unloads what a failed load left behind, as well as it can."""
        try:
            self._engine.unload()
        except BaseException:
            # Half a model may lack what unload() takes away; there is nothing more to do.
            logger.debug("unload after a failed load failed too", exc_info=True)
        self._forget()

    def _forget(self) -> None:
        self._engine.variant = None
        gc.collect()
        empty_caches()

    def _fire(self, event: ModelEvent, variant: str | None) -> None:
        before, self._state = self._state, advance(self._state, event)
        self._variant = variant
        logger.info("model: %s, %s -> %s", event.value, before.value, self._state.value)
