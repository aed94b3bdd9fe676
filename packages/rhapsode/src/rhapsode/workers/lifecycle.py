"""The life of one worker and of the model in it, as two tables (contract § 3).

Everything that may change either is in a table; nothing here does I/O. "Busy" is no state: it is
a count of leases, kept by the slot.
"""

from enum import Enum
from typing import Final, TypeVar


class Process(Enum):
    """Where the process is; the values are the wire's."""

    DOWN = "down"
    STARTING = "starting"
    UP = "up"
    DRAINING = "draining"
    FAILED = "failed"


class ProcessEvent(Enum):
    """What can happen to it."""

    START = "start"
    READY = "ready"  # the handshake was good, and its capabilities are known
    END = "end"  # the core asked for it
    EXIT = "exit"  # the process is gone, whoever ended it
    GIVE_UP = "give up"  # too many exits that nobody asked for


class Model(Enum):
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
    EXIT = "exit"  # the process is gone, and the model with it


PROCESS: Final[dict[tuple[Process, ProcessEvent], Process]] = {
    (Process.DOWN, ProcessEvent.START): Process.STARTING,
    (Process.STARTING, ProcessEvent.READY): Process.UP,
    (Process.STARTING, ProcessEvent.END): Process.DRAINING,
    (Process.STARTING, ProcessEvent.EXIT): Process.DOWN,
    (Process.UP, ProcessEvent.END): Process.DRAINING,
    (Process.UP, ProcessEvent.EXIT): Process.DOWN,
    (Process.DRAINING, ProcessEvent.EXIT): Process.DOWN,
    (Process.DOWN, ProcessEvent.GIVE_UP): Process.FAILED,
    (Process.FAILED, ProcessEvent.START): Process.STARTING,
    # Asking twice is not an error.
    (Process.DOWN, ProcessEvent.END): Process.DOWN,
    (Process.DRAINING, ProcessEvent.END): Process.DRAINING,
    (Process.FAILED, ProcessEvent.END): Process.DOWN,  # an operator clears the fault
}

MODEL: Final[dict[tuple[Model, ModelEvent], Model]] = {
    (Model.UNLOADED, ModelEvent.LOAD): Model.LOADING,
    # A switch of variants: the worker unloads the one and loads the other.
    (Model.LOADED, ModelEvent.LOAD): Model.LOADING,
    (Model.LOADING, ModelEvent.SUCCEED): Model.LOADED,
    (Model.LOADING, ModelEvent.FAIL): Model.UNLOADED,
    (Model.LOADED, ModelEvent.UNLOAD): Model.UNLOADING,
    (Model.UNLOADING, ModelEvent.GONE): Model.UNLOADED,
    (Model.UNLOADED, ModelEvent.EXIT): Model.UNLOADED,
    (Model.LOADING, ModelEvent.EXIT): Model.UNLOADED,
    (Model.LOADED, ModelEvent.EXIT): Model.UNLOADED,
    (Model.UNLOADING, ModelEvent.EXIT): Model.UNLOADED,
}

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)


class IllegalTransition(RuntimeError):
    """A bug in the core; never shown to a caller."""


def advance(table: dict[tuple[State, Event], State], state: State, event: Event) -> State:
    """Returns the state that follows `event` in `state`.

    Raises:
        IllegalTransition: The table has no such pair.
    """
    try:
        return table[state, event]
    except KeyError:
        raise IllegalTransition(f"{event.value!r} while {state.value!r}") from None
