"""Settings, as the document describes them (contract § 10, "Settings")."""

from collections.abc import Iterable
from typing import Any, Final

from rhapsode_contract import ErrorCode, SettingsDocument

from rhapsode.api.openapi.operation import Answer, Body, Operation
from rhapsode.api.openapi.schemas import PLACE, Node, first_paragraph, plain
from rhapsode.api.openapi.speaking import JSON
from rhapsode.settings.setting import ENGINE_SETTINGS, ENGINES, SETTINGS, Setting

PATCH_NAME: Final = "SettingsPatch"

OPERATIONS: Final = (
    Operation(
        "GET",
        "/settings",
        name="showSettings",
        tag="Settings",
        summary="List every setting",
        description="Its value in use, the layer that came from, and whether a change applies now. "
        "The token is never shown.",
        answer=Answer("The settings.", {JSON: SettingsDocument}),
        is_guarded=True,
    ),
    Operation(
        "PATCH",
        "/settings",
        name="changeSettings",
        tag="Settings",
        summary="Change some settings",
        description="Any part of `values`; null clears a setting. All of it or nothing. A change "
        "that would lock its caller out is a `conflict`.",
        body=Body({JSON: {"$ref": PLACE + PATCH_NAME}}),
        answer=Answer("The settings as they are now.", {JSON: SettingsDocument}),
        errors=(ErrorCode.UNKNOWN_ENGINE, ErrorCode.CONFLICT, ErrorCode.UNSUPPORTED),
        is_guarded=True,
    ),
)


def patch_schema() -> Node:
    """Returns the schema of a change, of which every setting may be a part."""
    sections: dict[str, list[Setting]] = {}
    for setting in SETTINGS.values():
        sections.setdefault(setting.section, []).append(setting)
    properties = {section: _object(held) for section, held in sections.items()}
    each = {"type": "object", "additionalProperties": _object(ENGINE_SETTINGS.values())}
    properties[ENGINES] = {**each, "description": "Settings of single engines, by their ids."}
    words = "Any part of the `values` of the settings."
    return {
        "type": "object",
        "description": words,
        "properties": properties,
        "additionalProperties": False,
    }


def _object(settings: Iterable[Setting]) -> Node:
    properties = {setting.name: _value(setting) for setting in settings}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _value(setting: Setting) -> dict[str, Any]:
    schema = plain(setting.adapter.json_schema())
    options = schema.pop("anyOf", None) or [schema]
    null = {"type": "null"}
    words = first_paragraph(setting.field.description or "")
    said = {"description": words} if words else {}
    return {"anyOf": [*(option for option in options if option != null), null], **said}
