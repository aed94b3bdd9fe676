"""The settings as an operator sees them: what is in use, whence, and what waits."""

from collections.abc import Iterator
from typing import Any

from pydantic import SecretStr
from rhapsode_contract import SettingField, SettingsDocument

from rhapsode.settings.live import LiveSettings
from rhapsode.settings.setting import (
    ENGINE_SETTINGS,
    ENGINES,
    SETTINGS,
    TOKEN_KEY,
    Setting,
    engine_key,
)


def document(live: LiveSettings) -> SettingsDocument:
    """Returns the whole of it. The token is nowhere in it."""
    fields = (*_fields_of_server(live), *_fields_of_engines(live))
    return SettingsDocument(values=_values(live), fields=fields)


def _values(live: LiveSettings) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for setting in SETTINGS.values():
        section = values.setdefault(setting.section, {})
        value = setting.of(live.current)
        if setting.key == TOKEN_KEY:
            section["tokenSet"] = isinstance(value, SecretStr) and bool(value.get_secret_value())
        elif value is not None:
            section[setting.name] = setting.written(value)
    values[ENGINES] = {
        engine: {
            name: setting.written(value)
            for name, setting in ENGINE_SETTINGS.items()
            if (value := live.of_engine(engine, setting)) is not None
        }
        for engine in live.engines
    }
    return values


def _fields_of_server(live: LiveSettings) -> Iterator[SettingField]:
    for key, setting in SETTINGS.items():
        yield SettingField(
            key=key,
            source=live.source(setting),
            applies=setting.applies,
            saved=_waiting(live, setting),
        )


def _waiting(live: LiveSettings, setting: Setting) -> Any | None:
    """Returns what the database holds and is not in use yet, or None."""
    held = live.held(setting)
    if held is None or held == setting.of(live.current):
        return None
    return True if setting.is_secret else setting.written(held)


def _fields_of_engines(live: LiveSettings) -> Iterator[SettingField]:
    for engine in live.engines:
        for setting in ENGINE_SETTINGS.values():
            key = engine_key(engine, setting)
            yield SettingField(
                key=key,
                source=live.source_of_engine(engine, setting),
                applies=setting.applies,
                saved=live.set_aside.get(key),
            )
