"""Exceptions of an adapter and its libraries, as the errors a caller may meet.

The one place where they are told apart. Nothing returned here refers to the exception it came
from: a traceback keeps a failed model's objects alive, and with them its memory (contract § 3).
"""

from typing import Final

from rhapsode_contract import (
    ERRORS,
    Internal,
    ModelUnavailable,
    OutOfMemory,
    RhapsodeError,
)

_SHOWN_CHARACTERS: Final = 300

_OUT_OF_MEMORY_WORDS: Final = ("out of memory", "allocate memory", "status_alloc_failed")
"""CUDA's and Metal's own words; those of onnxruntime, of torch on the CPU and of the system; and
what cuBLAS calls it."""


_LOST_DEVICE_WORDS: Final = (
    *("device-side assert", "illegal memory access", "unspecified launch failure"),
    *("illegal instruction was encountered", "misaligned address", "uncorrectable ecc"),
    *("gpu is lost", "device lost", "device is lost", "device removed"),
)
"""After each of these a CUDA or HIP context answers every later call with the same error; the last
are NVIDIA's driver's, Vulkan's and DirectX's words."""


class DeviceLost(ModelUnavailable):
    """The device is of no more use to this process; one started anew may find it again.

    The SDK knows the frameworks' own words for it; an adapter that knows better raises this. The
    worker answers, ends itself, and is replaced.
    """


def as_load_error(failure: BaseException) -> RhapsodeError:
    """Returns what a caller hears of a failed `load`."""
    if isinstance(failure, OSError) and not _is_out_of_memory(failure):
        return ModelUnavailable(f"the model did not load: {_said(failure)}")
    return _as_error(failure, "the model did not load")


def as_fetch_error(failure: BaseException) -> RhapsodeError:
    """Returns what a caller hears of a failed `fetch`."""
    if isinstance(failure, OSError) and not _is_out_of_memory(failure):
        return ModelUnavailable(f"the weights were not fetched: {_said(failure)}")
    return _as_error(failure, "the weights were not fetched")


def as_speak_error(failure: BaseException) -> RhapsodeError:
    """Returns what a caller hears of a failed `speak`."""
    return _as_error(failure, "the engine failed while speaking")


def as_engine_error(failure: BaseException, what: str) -> RhapsodeError:
    """Returns what a caller hears of a failure anywhere else in the adapter."""
    return _as_error(failure, what)


def _as_error(failure: BaseException, what: str) -> RhapsodeError:
    if isinstance(failure, DeviceLost):
        return DeviceLost(failure.message)
    if isinstance(failure, RhapsodeError):
        # By its code: a subclass of the adapter's may be made in another way, or have none.
        kind = ERRORS.get(getattr(failure, "code", Internal.code), Internal)
        return kind(failure.message, field=failure.field)
    if _is_out_of_memory(failure):
        return OutOfMemory(f"{what}: out of device memory: {_said(failure)}")
    if any(words in str(failure).lower() for words in _LOST_DEVICE_WORDS):
        return DeviceLost(f"{what}: the device is lost: {_said(failure)}")
    return Internal(f"{what}: {_said(failure)}")


def _is_out_of_memory(failure: BaseException) -> bool:
    # torch.cuda.OutOfMemoryError and the like: told by name, since none may be imported here.
    if isinstance(failure, MemoryError) or "OutOfMemory" in type(failure).__name__:
        return True
    said = str(failure).lower()
    return any(words in said for words in _OUT_OF_MEMORY_WORDS)


def _said(failure: BaseException) -> str:
    text = " ".join(str(failure).split()) or "no message"
    return f"{type(failure).__name__}: {text}"[:_SHOWN_CHARACTERS]
