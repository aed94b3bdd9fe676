"""The layers of the settings, each over the one before: default < config file < database."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from rhapsode_contract.quoting import shown

from rhapsode.settings.field import UNREPEATED
from rhapsode.settings.model import Settings

Source = Literal["default", "config", "database"]

Key = tuple[str, ...]

_SECRETS: Final = frozenset({"token", "env"})
"""Keys whose values no message repeats."""

_KINDS: Final = {
    "dict_type": "an object",
    "list_type": "a list",
    "model_type": "an object",
    "tuple_type": "a list",
}
"""What JSON calls the value that there should be, by the type of pydantic's complaint."""


class SettingsRefused(Exception):
    """Settings that can't be used: one line with file, key, what came and what is allowed."""


@dataclass(frozen=True)
class Layer:
    """What one place says."""

    source: Source

    values: Mapping[str, Any]
    """Tables of values, as the file spells them. A list replaces the one below it."""

    name: str
    """For messages: a path, say."""


@dataclass(frozen=True)
class MergedSettings:
    """Settings, and the layer each that was set came from."""

    settings: Settings

    sources: Mapping[str, Source]
    """By dotted key, such as `server.port`; a key that is not in it has its default."""


def merge(layers: Sequence[Layer]) -> MergedSettings:
    """Lays the layers over each other and checks the result once.

    Args:
        layers: The lowest first.

    Raises:
        SettingsRefused: A key is unknown, or a value is not allowed.
    """
    merged: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    names: dict[str, str] = {}
    for layer in layers:
        for key, value in _flatten(layer.values):
            _put(merged, key, value)
            sources[".".join(key)] = layer.source
            names[".".join(key)] = layer.name
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as failure:
        raise SettingsRefused(complaint(failure, names, layers[-1].name)) from None
    return MergedSettings(settings, sources)


def _flatten(table: Mapping[str, Any], above: Key = ()) -> Iterator[tuple[Key, Any]]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flatten(cast(dict[str, Any], value), (*above, key))
        else:
            yield (*above, key), value


def _put(table: dict[str, Any], key: Sequence[str], value: Any) -> None:
    *sections, leaf = key
    for section in sections:
        below = table.get(section)
        if not isinstance(below, dict):
            # A later layer has a table where an earlier one had a value; the later one wins.
            below = table[section] = {}
        table = cast(dict[str, Any], below)
    table[leaf] = value


def complaint(failure: ValidationError, names: Mapping[str, str], last: str) -> str:
    """Returns what is wrong in one line: the place, the key and why.

    Args:
        failure: Of which the first error is told.
        names: The place that each dotted key came from.
        last: The place of what has none there.
    """
    error = failure.errors(include_url=False)[0]
    parts = [str(part) for part in error["loc"] if part != "[key]"]
    key = ".".join(parts)
    place = next((name for known, name in names.items() if _is_at(known, key)), last)
    written = ".".join(part if part.isprintable() else shown(part) for part in parts)
    why = _reason(error, is_secret=not _SECRETS.isdisjoint(parts))
    return ": ".join(filter(None, (place, written, why)))


def _is_at(known: str, key: str) -> bool:
    """Whether the value at `known` is the one at `key`, holds it, or is held by it."""
    return known == key or known.startswith(f"{key}.") or key.startswith(f"{known}.")


def reason(failure: ValidationError, *, is_secret: bool) -> str:
    """Returns why a value is not allowed, and what came unless that is a secret."""
    return _reason(failure.errors(include_url=False)[0], is_secret=is_secret)


def _reason(error: ErrorDetails, *, is_secret: bool) -> str:
    if error["type"] == "extra_forbidden":
        return "there is no such setting"
    if error["type"] == "missing":
        return "is needed"
    kind = _KINDS.get(error["type"])
    why = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if kind is not None:
        why = f"should be {kind}"
    if is_secret or error["type"] == UNREPEATED or isinstance(error["input"], dict):
        return why
    return f"{why}, not {shown(error['input'])}"
