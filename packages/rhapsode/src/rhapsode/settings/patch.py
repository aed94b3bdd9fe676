"""A change to settings as a caller asks for it."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field
from rhapsode_contract import BadRequest, UnknownEngine
from rhapsode_contract.quoting import cut, shown, there_are
from rhapsode_contract.shape import Request

from rhapsode.settings.setting import ENGINE_SETTINGS, ENGINES, SETTINGS, TOKEN_KEY, Setting

_TOKEN_SET = "management.tokenSet"


class SettingsPatch(Request):
    """Any part of the document's `values`; null clears what the database holds of a setting."""

    server: dict[str, Any] = Field(default_factory=dict[str, Any])

    log: dict[str, Any] = Field(default_factory=dict[str, Any])

    residency: dict[str, Any] = Field(default_factory=dict[str, Any])

    workers: dict[str, Any] = Field(default_factory=dict[str, Any])

    install: dict[str, Any] = Field(default_factory=dict[str, Any])

    management: dict[str, Any] = Field(default_factory=dict[str, Any])

    update: dict[str, Any] = Field(default_factory=dict[str, Any])

    engines: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    """Settings of single engines, by their ids."""


def read_patch(patch: SettingsPatch, engines: Collection[str], base: Path) -> dict[str, object]:
    """Returns the checked values that a patch sets by their dotted keys; None where it clears.

    Args:
        patch: What came.
        engines: Those that this box has.
        base: What a relative path is relative to.

    Raises:
        BadRequest: There is no such setting, or it may not have this value.
        UnknownEngine: There is no such engine.
    """
    changes: dict[str, object] = {}
    for key, setting, value in _settings_in(patch, engines):
        if value is None:
            changes[key] = None
            continue
        try:
            changes[key] = setting.read(value, base)
        except ValueError as error:
            raise BadRequest(f"{key}: {error}", field=key) from None
    return changes


def _settings_in(
    patch: SettingsPatch, engines: Collection[str]
) -> Iterator[tuple[str, Setting, Any]]:
    for section in SettingsPatch.model_fields:
        if section != ENGINES:
            known = {one.name: one for one in SETTINGS.values() if one.section == section}
            yield from _settings_under(section, getattr(patch, section), known)
    for engine, values in patch.engines.items():
        if engine not in engines:
            raise UnknownEngine(
                f"engines: there is no {shown(engine)} here; {there_are(engines)}", field=ENGINES
            )
        yield from _settings_under(f"{ENGINES}.{engine}", values, ENGINE_SETTINGS)


def _settings_under(
    above: str, values: Mapping[str, Any], known: Mapping[str, Setting]
) -> Iterator[tuple[str, Setting, Any]]:
    for name, value in values.items():
        key = f"{above}.{name}"
        setting = known.get(name)
        if setting is None:
            raise _no_such_setting(above, name, known)
        yield key, setting, value


def _no_such_setting(above: str, name: str, known: Mapping[str, Setting]) -> BadRequest:
    key = cut(f"{above}.{name}" if name.isprintable() else f"{above}.{shown(name)}")
    if key == _TOKEN_SET:
        return BadRequest(f"{key}: is only shown; {TOKEN_KEY} is what is written", field=key)
    return BadRequest(f"{key}: no such setting; under {above} {there_are(known)}", field=key)
