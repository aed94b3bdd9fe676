"""JSON text to shapes: the one place where a validation failure becomes an error of ours."""

from collections.abc import Iterable
from typing import Final, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rhapsode_contract.error_body import ErrorBody
from rhapsode_contract.errors import (
    ERRORS,
    BadRequest,
    ErrorCode,
    ForeignError,
    MethodNotAllowed,
    RhapsodeError,
    RouteUnknown,
)
from rhapsode_contract.quoting import cut, listed, shown
from rhapsode_contract.shape import UNKNOWN_FIELD, Request, Shape

R = TypeVar("R", bound=Request)
S = TypeVar("S", bound=Shape)

_CLASSES: Final = {code.value: cls for code, cls in ERRORS.items()}
_REFINED: Final = {
    (cls.code.value, int(cls.status)): cls for cls in (RouteUnknown, MethodNotAllowed)
}
_NOT_JSON: Final = frozenset({"json_invalid", "string_unicode"})


def parse_request(model: type[R], body: bytes | str) -> R:
    """Reads a caller's JSON object.

    Raises:
        BadRequest: The text is not JSON (the message says where it breaks), or a field is
            unknown, missing or of the wrong kind (`field` names it, the message says what came
            and what is allowed).
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as failure:
        raise _refusal(failure, model) from None


def read_shape(model: type[S], body: bytes | str) -> S:
    """Reads a peer's JSON object leniently.

    Raises:
        ValueError: It does not have the shape.
    """
    return model.model_validate_json(body)


def read_error(status: int, body: bytes) -> RhapsodeError | ForeignError:
    """Reads a peer's error envelope into the error it stands for.

    A body that is no envelope becomes a `ForeignError` of code `internal` that says so.
    """
    try:
        error = read_shape(ErrorBody, body).error
    except ValueError:
        return ForeignError(
            ErrorCode.INTERNAL.value,
            f"an answer of status {status} that is not an error envelope",
            retryable=False,
            status=status,
        )
    known = _REFINED.get((error.code, status)) or _CLASSES.get(error.code)
    if known is None or known.retryable != error.retryable:
        return ForeignError(error.code, error.message, retryable=error.retryable, status=status)
    return known(error.message)


def _refusal(failure: ValidationError, model: type[Request]) -> BadRequest:
    first = failure.errors(include_url=False)[0]
    place = [*first["loc"]]
    context = first.get("ctx", {})
    if first["type"] == UNKNOWN_FIELD:
        # The known fields are listed for the body itself; which object a nested name missed is
        # plain from its path.
        known = "" if place else f"; there are {listed(model.wire_names())}"
        field = _dotted([*place, context["name"]])
        return BadRequest(f"{field}: no such field{known}", field=field)
    if not place:
        if first["type"] in _NOT_JSON:
            return BadRequest(f"the body is not JSON: {context.get('error', 'not Unicode')}")
        return BadRequest(f"the body should be a JSON object, not {shown(first['input'])}")
    field = _dotted(place)
    return BadRequest(_sentence(first, field), field=field)


def _sentence(error: ErrorDetails, field: str) -> str:
    if error["type"] == "missing":
        return f"{field}: required"
    reason = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{field}: {reason}, not {shown(error['input'])}"


def _dotted(place: Iterable[str | int]) -> str:
    return cut(".".join(str(part) for part in place))
