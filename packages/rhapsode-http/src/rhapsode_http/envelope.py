"""Errors become answers here, and nowhere else: the envelope of contract § 6."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import cast

from rhapsode_contract.error_body import ErrorBody
from rhapsode_contract.errors import (
    BadRequest,
    Forbidden,
    ForeignError,
    Internal,
    MethodNotAllowed,
    RhapsodeError,
    RouteUnknown,
    Unavailable,
)
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from rhapsode_http.abort import as_abort
from rhapsode_http.listener import ListenerLeft

_logger = logging.getLogger(__name__)

_RETRY_AFTER_SECONDS = 1
"""For a retryable error of a newer peer, whose own figure we do not know."""

Handler = Callable[[Request, Exception], Awaitable[Response]]


def error_response(
    error: RhapsodeError | ForeignError, headers: Mapping[str, str] | None = None
) -> Response:
    """Returns the answer that says `error`, with `Retry-After` where it is retryable.

    Args:
        error: What went wrong.
        headers: More headers of the answer, such as the `Allow` of a 405.
    """
    fields = {"Cache-Control": "no-store", **(headers or {})}
    if error.retryable:
        seconds = (
            error.retry_after_seconds if isinstance(error, Unavailable) else _RETRY_AFTER_SECONDS
        )
        fields.setdefault("Retry-After", str(seconds))
    return Response(
        ErrorBody.of(error).to_json(),
        status_code=int(error.status),
        headers=fields,
        media_type="application/json",
    )


def exception_handlers() -> dict[type[Exception], Handler]:
    """Returns the handlers that a Starlette application is made with.

    Coroutines all, since Starlette runs any other handler on a thread.

    Starlette re-raises whatever reaches the handler of `Exception` once it is answered; the
    server of this package knows that and neither logs it again nor cuts the connection.
    """
    return {
        RhapsodeError: _answer_error,
        ForeignError: _answer_error,
        HTTPException: _answer_http_exception,
        ClientDisconnect: _answer_nobody,
        ListenerLeft: _answer_nobody,
        Exception: _answer_bug,
    }


async def _answer_error(_: Request, error: Exception) -> Response:
    return error_response(cast("RhapsodeError | ForeignError", error))


async def _answer_http_exception(request: Request, error: Exception) -> Response:
    refusal = cast("HTTPException", error)
    return error_response(_translate(request, refusal), refusal.headers)


def _translate(request: Request, refusal: HTTPException) -> RhapsodeError | ForeignError:
    """Returns our error for one of Starlette's, which knows statuses alone."""
    path = request.url.path
    match refusal.status_code:
        case HTTPStatus.NOT_FOUND:
            return RouteUnknown(f"nothing is served at {request.method} {path}")
        case HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = (refusal.headers or {}).get("Allow", "other methods")
            return MethodNotAllowed(f"{path} does not take {request.method}; it takes {allowed}")
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return Forbidden(refusal.detail)
        case status if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return BadRequest(refusal.detail)
        case _:
            return Internal(refusal.detail)


async def _answer_nobody(_: Request, __: Exception) -> Response:
    # The client left before its answer began: whatever is returned here is never sent.
    return Response(status_code=HTTPStatus.BAD_REQUEST)


async def _answer_bug(request: Request, error: Exception) -> Response:
    # Starlette asks for an answer to what was raised inside one, too; the server logs an abort.
    if as_abort(error) is None:
        _logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return error_response(internal_error(error))


def internal_error(error: BaseException) -> Internal:
    """Returns what a caller is told of an exception that nobody foresaw: its kind, no more."""
    return Internal(f"an unexpected {type(error).__name__}; the server's log has the details")
