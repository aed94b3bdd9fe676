"""What an adapter raises, as the error a caller meets."""

from typing import Any

import pytest
from rhapsode_contract import (
    BadRequest,
    ErrorCode,
    Internal,
    RhapsodeError,
    UnknownVoice,
    Unsupported,
)
from rhapsode_worker.failures import DeviceLost, as_engine_error, as_load_error, as_speak_error


class OutOfMemoryError(RuntimeError):
    """Named as torch names it."""


class HouseRule(BadRequest):
    """An adapter's own error, made in its own way."""

    def __init__(self) -> None:
        super().__init__("no shouting", field="text")


OUT_OF_MEMORY = [
    MemoryError(),
    OutOfMemoryError("Tried to allocate 20.00 MiB"),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("MPS backend out of memory"),
    RuntimeError("Failed to allocate memory for requested buffer of size 1073741824"),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"),
    OSError(12, "Cannot allocate memory"),
]


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=repr)
@pytest.mark.contract("8.errors.mapped", "6.errors.oom")
def test_no_memory_is_oom_wherever_it_happens(error: Exception) -> None:
    for failure in (as_load_error(error), as_speak_error(error), as_engine_error(error, "it")):
        assert (failure.code, failure.status, failure.retryable) == (ErrorCode.OOM, 503, True)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA error: device-side assert triggered"),
        RuntimeError("CUDA error: an illegal memory access was encountered"),
        RuntimeError("CUDA error: unspecified launch failure"),
        RuntimeError("CUDA error: uncorrectable ECC error encountered"),
        DeviceLost("the adapter's own words"),
    ],
    ids=repr,
)
def test_a_lost_device_is_told_from_every_other_failure(error: Exception) -> None:
    for failure in (as_load_error(error), as_speak_error(error), as_engine_error(error, "it")):
        assert type(failure) is DeviceLost
        assert (failure.code, failure.status, failure.retryable) == (
            ErrorCode.MODEL_UNAVAILABLE,
            503,
            True,
        )


def test_another_failure_on_the_device_costs_no_process() -> None:
    error = RuntimeError("CUDA error: invalid argument")
    assert type(as_speak_error(error)) is Internal


@pytest.mark.parametrize(
    "error", [FileNotFoundError("weights.bin"), ConnectionError("reset"), TimeoutError("hub")]
)
@pytest.mark.contract("6.errors.model-unavailable")
def test_weights_that_cannot_be_had_make_a_load_model_unavailable(error: OSError) -> None:
    failure = as_load_error(error)
    assert (failure.code, failure.status, failure.retryable) == (
        ErrorCode.MODEL_UNAVAILABLE,
        503,
        True,
    )
    assert type(error).__name__ in failure.message


@pytest.mark.parametrize(
    "error",
    [ValueError("shape"), KeyError("k"), ImportError("torch"), SystemExit(1), AssertionError()],
    ids=repr,
)
@pytest.mark.contract("6.errors.internal")
def test_anything_else_is_internal_and_not_worth_a_retry(error: BaseException) -> None:
    for failure in (as_load_error(error), as_speak_error(error), as_engine_error(error, "it")):
        assert (failure.code, failure.status, failure.retryable) == (
            ErrorCode.INTERNAL,
            500,
            False,
        )
        assert type(error).__name__ in failure.message


def test_an_unreadable_file_while_speaking_is_the_engines_fault() -> None:
    assert as_speak_error(FileNotFoundError("clip.wav")).code == ErrorCode.INTERNAL


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnknownVoice("voice: no", field="voice"), UnknownVoice),
        (Unsupported("no"), Unsupported),
        (HouseRule(), BadRequest),
        (RhapsodeError("without a code"), Internal),
    ],
)
def test_an_error_of_ours_keeps_its_code_message_and_field(
    error: RhapsodeError, kind: type[RhapsodeError]
) -> None:
    failure = as_speak_error(error)
    assert type(failure) is kind
    assert (failure.message, failure.field) == (error.message, error.field)


def test_what_comes_out_does_not_hold_on_to_what_went_in() -> None:
    try:
        raise ValueError("with a traceback")
    except ValueError as error:
        failure: Any = as_load_error(error)
    assert failure.__cause__ is None
    assert failure.__context__ is None
    assert failure.__traceback__ is None


def test_a_message_is_one_line_of_bounded_length() -> None:
    failure = as_speak_error(ValueError("line\n" * 10_000))
    assert "\n" not in failure.message
    assert len(failure.message) < 500
    assert "no message" in as_speak_error(ValueError()).message
