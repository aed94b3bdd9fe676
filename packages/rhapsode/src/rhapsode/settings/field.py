"""What the sections of the settings have in common: frozen, camelCase, nothing unknown."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from rhapsode_contract.shape import Integer, Number
from rhapsode_contract.speaking import KEEP_ALIVE_SECONDS_MAX

Applies = Literal["live", "restart"]
"""When a change to a setting takes effect."""

_LIVE: Final = "live"


class Section(BaseModel):
    """A table of settings."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
        validate_default=True,
    )


class Live:
    """Marks a setting that is read when it is used, so that a change applies at once."""


def applies(field: FieldInfo) -> Applies:
    """Returns when a change to a setting takes effect."""
    return _LIVE if any(isinstance(mark, Live) for mark in field.metadata) else "restart"


KeepAlive = Annotated[Integer, Field(ge=-1, le=KEEP_ALIVE_SECONDS_MAX)]
"""Seconds an idle model stays: -1 until the room is needed, 0 not at all."""

Milliseconds = Annotated[Integer, Field(ge=0)]

Seconds = Annotated[Number, Field(ge=0)]

SomeSeconds = Annotated[Number, Field(gt=0)]
"""A wait that can't be left out."""

Count = Annotated[Integer, Field(ge=0)]
