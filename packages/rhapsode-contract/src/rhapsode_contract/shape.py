"""What every shape on the wire has in common: camelCase, lenient to read, strict to ask.

A `Shape` is read leniently: a field it does not know is ignored, because changes are additive
within a contract (§ 9). A `Request` refuses what it does not know, because a caller who is
ignored believes that they asked for something (§ 6).
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, cast

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError


class Shape(BaseModel):
    """A JSON object as one side sends it and the other reads it."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        # A process uses few of the shapes, and a worker waits for each that is built at its start.
        # One that threads make says False: while a thread builds it, pydantic 2.11 to 2.13 let
        # another make it by its parent's fields.
        defer_build=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        # The contract has fields named `model…`, which pydantic below 2.10 keeps for itself.
        protected_namespaces=(),
    )

    def to_json(self) -> bytes:
        """Returns the object as compact UTF-8 JSON; a field that is None is left out."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()

    def to_object(self) -> dict[str, Any]:
        """Returns the object as JSON values; a field that is None is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Request(Shape):
    """A JSON object that a caller sends: an unknown field is refused."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def wire_names(cls) -> list[str]:
        """Returns the names of the fields as a caller writes them."""
        return sorted(info.alias or name for name, info in cls.model_fields.items())

    @model_validator(mode="before")
    @classmethod
    def _only_wire_names(cls, value: Any, info: ValidationInfo) -> Any:
        # Python code builds a request by Python names; JSON has only the names of the wire, so
        # `keep_alive_seconds` is an unknown field. One is enough: a body of 1 MiB can hold 80,000
        # unknown fields, and telling all of them takes longer than a loop may block.
        if info.mode == "json":
            names = _wire_names(cls)
            for name in _names_in(value):
                if name not in names:
                    raise PydanticCustomError(UNKNOWN_FIELD, "no such field", {"name": name})
        return value


@cache
def _wire_names(model: type[Request]) -> frozenset[str]:
    return frozenset(model.wire_names())


UNKNOWN_FIELD: Final = "unknown_field"
"""The type of the validation error that a request's unknown field is; `ctx["name"]` names it."""


def _names_in(value: object) -> Iterable[str]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else ()


def _a_number(value: object) -> object:
    # Python's True is an int and its "1_000" a number; on the wire they are not.
    if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
        raise ValueError("should be a number")
    return value


def _in_utc(moment: datetime) -> str:
    in_utc = moment.astimezone(UTC)
    return in_utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def at_most(items: int) -> BeforeValidator:
    """Returns a validator that refuses a longer list or object before looking into it.

    A length in the schema is checked only after every item, and each item may fail.
    """

    def refuse_longer(value: object) -> object:
        held = _length_of(value)
        if held > items:
            raise ValueError(f"should hold at most {items}, and this one holds {held}")
        return value

    return BeforeValidator(refuse_longer)


def _length_of(value: object) -> int:
    return len(cast("list[Any]", value)) if isinstance(value, list | dict) else 0


Number = Annotated[float, BeforeValidator(_a_number), Field(allow_inf_nan=False)]
"""A finite number; `"0.7"` is read as 0.7, `true` and NaN are refused."""

Integer = Annotated[int, BeforeValidator(_a_number)]
"""A whole number; `"7"` and `7.0` are read as 7, `7.5` and `true` are refused."""

Timestamp = Annotated[AwareDatetime, PlainSerializer(_in_utc, when_used="json")]
"""A moment, written as ISO 8601 in UTC with milliseconds, `2026-09-20T11:04:02.118Z`."""
