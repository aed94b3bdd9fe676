"""What the sections of the settings have in common: frozen, camelCase, nothing unknown."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from rhapsode_contract.shape import Integer, Number
from rhapsode_contract.speaking import KEEP_ALIVE_SECONDS_MAX

UNREPEATED: Final = "unrepeated"
"""The type of the validation error whose message may not repeat the value: it holds a secret."""

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


@dataclass(frozen=True)
class FileOnly:
    """Marks a value of a setting that only a config file may give it."""

    value: object


def applies(field: FieldInfo) -> Applies:
    """Returns when a change to a setting takes effect."""
    return _LIVE if any(isinstance(mark, Live) for mark in field.metadata) else "restart"


def _check_not_blank(value: object) -> object:
    # Pathlib reads nothing as the folder that it is in.
    if value == "":
        raise ValueError("should be a path, which is not empty")
    return value


def _check_path(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("should be a path, which holds no NUL")
    try:
        path.expanduser()  # done where the file is known that it is relative to
    except RuntimeError:
        raise ValueError("begins with the home of a user who has none") from None
    return path


FilePath = Annotated[Path, BeforeValidator(_check_not_blank), AfterValidator(_check_path)]
"""The path of a file or a folder."""

LONGEST_SECONDS: Final = KEEP_ALIVE_SECONDS_MAX
"""A century: what is longer does not fit into the clocks of every platform."""

LARGEST_COUNT: Final = 2**31 - 1

KeepAlive = Annotated[Integer, Field(ge=-1, le=KEEP_ALIVE_SECONDS_MAX)]
"""Seconds an idle model stays: -1 until the room is needed, 0 not at all."""

Milliseconds = Annotated[Integer, Field(ge=0, le=LONGEST_SECONDS * 1000)]

Seconds = Annotated[Number, Field(ge=0, le=LONGEST_SECONDS)]

SomeSeconds = Annotated[Number, Field(gt=0, le=LONGEST_SECONDS)]
"""A wait that can't be left out."""

Count = Annotated[Integer, Field(ge=0, le=LARGEST_COUNT)]
