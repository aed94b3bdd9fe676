"""`rhapsode.engines.json`, in which earlier cores kept the engines they installed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from pydantic import TypeAdapter, ValidationError

from rhapsode.settings.entry import EngineEntry, EngineId
from rhapsode.settings.layers import SettingsRefused, complaint

FORMER_NAME: Final = "rhapsode.engines.json"
IMPORTED_NAME: Final = f"{FORMER_NAME}.imported"

_ENGINES: Final = "engines"

_ENTRIES: Final = TypeAdapter(dict[EngineId, EngineEntry])


def read_former(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Returns the entries of a file, by engine: an object of them, or one under `engines`.

    Raises:
        SettingsRefused: It can't be read, or says something that is not allowed.
    """
    try:
        document: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsRefused(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise SettingsRefused(f"{path}: this is not JSON: {error}") from None
    entries = _entries(document)
    try:
        _ENTRIES.validate_python(entries)
    except ValidationError as failure:
        raise SettingsRefused(complaint(failure, {}, str(path))) from None
    return entries


def _entries(document: object) -> Mapping[str, Mapping[str, Any]]:
    entries = cast("Mapping[str, Mapping[str, Any]]", document)
    if not isinstance(document, dict) or set(entries) != {_ENGINES}:
        return entries
    under = entries[_ENGINES]
    # Else it is the entry of an engine of that name, whose values are no objects.
    is_section = all(isinstance(entry, dict) for entry in under.values())
    return under if is_section else entries
