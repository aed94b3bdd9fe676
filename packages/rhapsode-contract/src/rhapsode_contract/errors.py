"""Every error a caller can meet, one class per code (contract § 6, "Errors").

RhapsodeError               raised by us
├── RequestError            the caller must change the request
│   ├── BadRequest              400  bad_request
│   │   ├── RouteUnknown        404  bad_request
│   │   └── MethodNotAllowed    405  bad_request
│   ├── UnknownEngine           404  unknown_engine
│   ├── UnknownVoice            404  unknown_voice
│   ├── Unsupported             422  unsupported
│   ├── Forbidden               403  forbidden
│   └── Conflict                409  conflict
├── Unavailable             the same request may work later
│   ├── ModelUnavailable        503  model_unavailable
│   ├── OutOfMemory             503  oom
│   └── Overloaded              429  overloaded
└── EngineFault             the engine broke its word; a bug in it, not in the request
    └── Internal                500  internal

ForeignError                read from a peer: its code, status and `retryable`, as they came

Each code has one class that defines it; `RouteUnknown` and `MethodNotAllowed` refine
`BadRequest` by status alone, and a client sees the same code.
"""

from enum import StrEnum
from http import HTTPStatus
from typing import ClassVar


class ErrorCode(StrEnum):
    """The stable names clients branch on. Add at the end, never rename."""

    BAD_REQUEST = "bad_request"
    UNKNOWN_ENGINE = "unknown_engine"
    UNKNOWN_VOICE = "unknown_voice"
    UNSUPPORTED = "unsupported"
    MODEL_UNAVAILABLE = "model_unavailable"
    OOM = "oom"
    OVERLOADED = "overloaded"
    INTERNAL = "internal"
    FORBIDDEN = "forbidden"
    CONFLICT = "conflict"


class RhapsodeError(Exception):
    """Base class; catch it at the edge, raise only classes that have a code."""

    code: ClassVar[ErrorCode]
    status: ClassVar[HTTPStatus]
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        """For a person: names the field, what came and what is allowed."""
        self.field = field
        """Dotted name of the request field the failure is about, or None."""


class RequestError(RhapsodeError):
    """The caller must change the request."""


class Unavailable(RhapsodeError):
    """The same request may work later."""

    retryable = True
    retry_after_seconds: ClassVar[int] = 1
    """What the `Retry-After` header of the answer says."""


class EngineFault(RhapsodeError):
    """The engine broke its word."""


class BadRequest(RequestError):
    """Malformed, or asks for a value outside what is allowed."""

    code, status = ErrorCode.BAD_REQUEST, HTTPStatus.BAD_REQUEST


class RouteUnknown(BadRequest):
    """Nothing is served at this path."""

    status = HTTPStatus.NOT_FOUND


class MethodNotAllowed(BadRequest):
    """The path is served, with other methods."""

    status = HTTPStatus.METHOD_NOT_ALLOWED


class UnknownEngine(RequestError):
    """No engine of this id is configured. Only the core says this; a worker is one engine."""

    code, status = ErrorCode.UNKNOWN_ENGINE, HTTPStatus.NOT_FOUND


class UnknownVoice(RequestError):
    """The engine has no voice of this id."""

    code, status = ErrorCode.UNKNOWN_VOICE, HTTPStatus.NOT_FOUND


class Unsupported(RequestError):
    """A format, language or feature that this variant does not do."""

    code, status = ErrorCode.UNSUPPORTED, HTTPStatus.UNPROCESSABLE_ENTITY


class Forbidden(RequestError):
    """A management route was called from somewhere it does not answer."""

    code, status = ErrorCode.FORBIDDEN, HTTPStatus.FORBIDDEN


class Conflict(RequestError):
    """The current state rules out what a management route was asked for."""

    code, status = ErrorCode.CONFLICT, HTTPStatus.CONFLICT


class ModelUnavailable(Unavailable):
    """Loading, evicted, or a load that ran out of time."""

    code, status = ErrorCode.MODEL_UNAVAILABLE, HTTPStatus.SERVICE_UNAVAILABLE
    retry_after_seconds = 5


class OutOfMemory(Unavailable):
    """The device has no memory left for this."""

    code, status = ErrorCode.OOM, HTTPStatus.SERVICE_UNAVAILABLE
    retry_after_seconds = 5


class Overloaded(Unavailable):
    """Draining, or at the concurrency limit."""

    code, status = ErrorCode.OVERLOADED, HTTPStatus.TOO_MANY_REQUESTS


class Internal(EngineFault):
    """The adapter threw, or the engine's process broke the protocol."""

    code, status = ErrorCode.INTERNAL, HTTPStatus.INTERNAL_SERVER_ERROR


class ForeignError(Exception):
    """An error read from a peer that no class of ours stands for.

    A newer peer may add codes (§ 9), or say otherwise whether one of ours is worth a retry; what
    it said is kept as it came.
    """

    def __init__(self, code: str, message: str, *, retryable: bool, status: int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.status = status


ERRORS: dict[ErrorCode, type[RhapsodeError]] = {
    error.code: error
    for error in (
        BadRequest,
        UnknownEngine,
        UnknownVoice,
        Unsupported,
        ModelUnavailable,
        OutOfMemory,
        Overloaded,
        Internal,
        Forbidden,
        Conflict,
    )
}
"""The class of each code."""
