"""The answers that are no success, as the document describes them."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from rhapsode_contract import ERRORS, ErrorBody, ErrorCode

from rhapsode.api.openapi.operation import Operation
from rhapsode.api.openapi.schemas import content_schema

WORDS: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.BAD_REQUEST: "The request is malformed, or asks for a value outside what is allowed.",
    ErrorCode.UNKNOWN_ENGINE: "This server has no engine of this id.",
    ErrorCode.UNKNOWN_VOICE: "The engine has no voice of this id.",
    ErrorCode.UNSUPPORTED: "This variant, engine or server does not do what was asked.",
    ErrorCode.MODEL_UNAVAILABLE: "Starting, loading or waiting for room took too long.",
    ErrorCode.OOM: "The device has no memory left for this.",
    ErrorCode.OVERLOADED: "Too many are waiting, or the server is about to stop.",
    ErrorCode.INTERNAL: "The engine or the server failed.",
    ErrorCode.FORBIDDEN: "The caller may not ask for this.",
    ErrorCode.CONFLICT: "The present state rules this out.",
}
"""What each code means to a caller."""

_ALWAYS: Final = (ErrorCode.BAD_REQUEST, ErrorCode.INTERNAL)
"""What any route may answer: a head that cannot be read, a fault of the server."""

CODES_FIELD: Final = "x-error-codes"
"""Where an answer lists the codes it may carry."""

_RETRY_AFTER: Final = {
    "Retry-After": {
        "description": "Seconds until the same request may work.",
        "required": True,
        "schema": {"type": "integer", "minimum": 0},
    }
}


def codes_of(operation: Operation) -> list[ErrorCode]:
    """Returns every code that an operation may answer with, in the taxonomy's order."""
    codes = {*_ALWAYS, *operation.errors}
    if operation.method != "GET":
        codes.add(ErrorCode.OVERLOADED)  # work is refused once the server is about to stop
    if operation.is_guarded:
        codes.add(ErrorCode.FORBIDDEN)
    return [code for code in ErrorCode if code in codes]


def failures_of(operation: Operation, headers: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns what is answered by status, one answer for all the codes that share it.

    Args:
        operation: Whose failures they are.
        headers: On each of them.
    """
    failures = {
        str(int(status)): {"$ref": f"#/components/responses/{_name(codes)}"}
        for status, codes in _by_status(operation).items()
    }
    if operation.unknown_path:
        words = {ErrorCode.BAD_REQUEST: operation.unknown_path}
        failures[str(int(HTTPStatus.NOT_FOUND))] = _response(words, headers)
    return dict(sorted(failures.items()))


def responses_of(
    operations: Iterable[Operation], headers: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Returns the answers that failures refer to, by name.

    Args:
        operations: Whose failures they are.
        headers: On each of them.
    """
    groups = {codes for one in operations for codes in _by_status(one).values()}
    return {
        _name(codes): _response({code: WORDS[code] for code in codes}, headers)
        for codes in sorted(groups)
    }


def _by_status(operation: Operation) -> dict[HTTPStatus, tuple[ErrorCode, ...]]:
    by_status: dict[HTTPStatus, tuple[ErrorCode, ...]] = {}
    for code in codes_of(operation):
        status = ERRORS[code].status
        by_status[status] = (*by_status.get(status, ()), code)
    return by_status


def _name(codes: Iterable[ErrorCode]) -> str:
    return "Or".join(code.value.title().replace("_", "") for code in codes)


def _response(words: Mapping[ErrorCode, str], headers: Mapping[str, Any]) -> dict[str, Any]:
    is_retryable = all(ERRORS[code].retryable for code in words)
    return {
        "description": "\n".join(f"`{code}`: {said}" for code, said in words.items()),
        "headers": {**headers, **(_RETRY_AFTER if is_retryable else {})},
        "content": {"application/json": {"schema": content_schema(ErrorBody)}},
        CODES_FIELD: [str(code) for code in words],
    }
