"""Exceptions of an adapter and its libraries, as the errors a caller may meet.

The one place where they are told apart. Nothing returned here refers to the exception it came
from: a traceback keeps a failed model's objects alive, and with them its memory (contract § 3).
"""

from rhapsode_contract import (
    Internal,
    ModelUnavailable,
    OutOfMemory,
    RhapsodeError,
)

_SHOWN_CHARACTERS = 300


def as_load_error(failure: BaseException) -> RhapsodeError:
    """Returns what a caller hears of a failed `load`."""
    if isinstance(failure, OSError) and not _is_out_of_memory(failure):
        return ModelUnavailable(f"the model did not load: {_said(failure)}")
    return _as_error(failure, "the model did not load")


def as_speak_error(failure: BaseException) -> RhapsodeError:
    """Returns what a caller hears of a failed `speak`."""
    return _as_error(failure, "the engine failed while speaking")


def as_engine_error(failure: BaseException, what: str) -> RhapsodeError:
    """Returns what a caller hears of a failure anywhere else in the adapter."""
    return _as_error(failure, what)


def _as_error(failure: BaseException, what: str) -> RhapsodeError:
    if isinstance(failure, RhapsodeError):
        return type(failure)(failure.message, field=failure.field)
    if _is_out_of_memory(failure):
        return OutOfMemory(f"{what}: out of device memory: {_said(failure)}")
    return Internal(f"{what}: {_said(failure)}")


def _is_out_of_memory(failure: BaseException) -> bool:
    # torch.cuda.OutOfMemoryError, onnxruntime's "Failed to allocate", CUDA's own words: told by
    # name, since none of them may be imported here.
    if isinstance(failure, MemoryError) or "OutOfMemory" in type(failure).__name__:
        return True
    said = str(failure).lower()
    return "out of memory" in said or "failed to allocate memory" in said


def _said(failure: BaseException) -> str:
    text = " ".join(str(failure).split()) or "no message"
    return f"{type(failure).__name__}: {text}"[:_SHOWN_CHARACTERS]
