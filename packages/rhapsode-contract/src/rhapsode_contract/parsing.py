"""JSON text to shapes: the one place where a validation failure becomes an error of ours."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rhapsode_contract.error_body import ErrorBody
from rhapsode_contract.errors import (
    ERRORS,
    BadRequest,
    ForeignError,
    Internal,
    MethodNotAllowed,
    ModelUnavailable,
    RhapsodeError,
    RouteUnknown,
)
from rhapsode_contract.quoting import cut, shown, there_are
from rhapsode_contract.shape import UNKNOWN_FIELD, Request, Shape
from rhapsode_contract.surrogates import place_of_surrogate

R = TypeVar("R", bound=Request)
S = TypeVar("S", bound=Shape)

_CLASSES: Final = {code.value: cls for code, cls in ERRORS.items()}
_REFINED: Final = {
    (cls.code.value, int(cls.status)): cls for cls in (RouteUnknown, MethodNotAllowed)
}
_GATEWAY: Final = frozenset(
    {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
)
_ERROR_STATUSES: Final = range(400, 600)
_NOT_JSON: Final = frozenset({"json_invalid", "string_unicode"})
_POSITION: Final = re.compile(r"line \d+ column \d+")
_KINDS: Final = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "model_type": "an object",
    "string_type": "a string",
    "tuple_type": "a list",
}
"""What JSON calls the value that a field should have, by the type of the validation error."""


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
        raise _refusal(failure, model, body) from None


def read_shape(model: type[S], body: bytes | str) -> S:
    """Reads a peer's JSON object leniently.

    Raises:
        ValueError: It does not have the shape.
    """
    return model.model_validate_json(body)


def read_error(status: int, body: bytes) -> RhapsodeError | ForeignError:
    """Reads a peer's error envelope into the error it stands for.

    A body that is no envelope comes from something between the two of us: `ModelUnavailable` with
    the status of a gateway that reached nobody, else `Internal`. So is one of a code that we do
    not know with a status that is no error's, which nobody could be answered with.
    """
    try:
        error = read_shape(ErrorBody, body).error
    except ValueError:
        message = f"an answer of status {status} that is not an error envelope"
        return ModelUnavailable(message) if status in _GATEWAY else Internal(message)
    known = _REFINED.get((error.code, status)) or _CLASSES.get(error.code)
    if known is None or known.retryable != error.retryable:
        if status not in _ERROR_STATUSES:
            said = f"{error.code}: {error.message}"
            return Internal(f"an error of status {status}, which is no error's: {said}")
        return ForeignError(error.code, error.message, retryable=error.retryable, status=status)
    return known(error.message)


def _refusal(failure: ValidationError, model: type[Request], body: bytes | str) -> BadRequest:
    first = failure.errors(include_url=False)[0]
    place = [*first["loc"]]
    context = first.get("ctx", {})
    if first["type"] == UNKNOWN_FIELD:
        # The known fields are listed for the body itself; which object a nested name missed is
        # plain from its path.
        known = "" if place else f"; {there_are(model.wire_names())}"
        field = _dotted([*place, context["name"]])
        return BadRequest(f"{field}: no such field{known}", field=field)
    if not place:
        if first["type"] in _NOT_JSON:
            return _not_json(str(context.get("error", "not Unicode")), body)
        return BadRequest(f"the body should be a JSON object, not {shown(first['input'])}")
    field = _dotted(place)
    return BadRequest(_sentence(first, field), field=field)


def _not_json(reason: str, body: bytes | str) -> BadRequest:
    place = place_of_surrogate(body)
    if place is None:
        return BadRequest(f"the body is not JSON: {reason}")
    position = _POSITION.search(reason)
    where = f" ({position[0]})" if position else ""
    field = _dotted(part if str(part).isprintable() else shown(part) for part in place)
    return BadRequest(f"{field}: holds what is no Unicode character{where}", field=field)


def _sentence(error: ErrorDetails, field: str) -> str:
    if error["type"] == "missing":
        return f"{field}: required"
    if error["type"] == "too_short":
        return f"{field}: should hold at least {error.get('ctx', {})['min_length']}, and is empty"
    if (kind := _KINDS.get(error["type"])) is not None:
        return f"{field}: should be {kind}, not {shown(error['input'])}"
    reason = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{field}: {reason}, not {shown(error['input'])}"


def _dotted(place: Iterable[str | int]) -> str:
    return cut(".".join(str(part) for part in place))
