"""The engine SDK of Rhapsode: subclass `Engine`, call `serve`, and have a whole worker."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rhapsode_contract import (
        BadRequest,
        Capabilities,
        Internal,
        ModelUnavailable,
        OutOfMemory,
        UnknownVoice,
        Unsupported,
        Voice,
    )

    from rhapsode_worker.devices import Device
    from rhapsode_worker.engine import Engine, LicenseFields
    from rhapsode_worker.failures import DeviceLost
    from rhapsode_worker.native_format import NativeFormat
    from rhapsode_worker.requests import DialogueRequest, SpeakRequest, Turn
    from rhapsode_worker.segmenting import Joint, Segment, split
    from rhapsode_worker.variant import ALL_CUES, Variant
    from rhapsode_worker.voicing.new_voice import NewVoice
    from rhapsode_worker.voicing.store import VoiceStore
    from rhapsode_worker.worker import serve

__all__ = [
    "ALL_CUES",
    "BadRequest",
    "Capabilities",
    "Device",
    "DeviceLost",
    "DialogueRequest",
    "Engine",
    "Internal",
    "Joint",
    "LicenseFields",
    "ModelUnavailable",
    "NativeFormat",
    "NewVoice",
    "OutOfMemory",
    "Segment",
    "SpeakRequest",
    "Turn",
    "UnknownVoice",
    "Unsupported",
    "Variant",
    "Voice",
    "VoiceStore",
    "serve",
    "split",
]

_HOMES = {
    "ALL_CUES": "rhapsode_worker.variant",
    "Device": "rhapsode_worker.devices",
    "DeviceLost": "rhapsode_worker.failures",
    "Engine": "rhapsode_worker.engine",
    "LicenseFields": "rhapsode_worker.engine",
    "NativeFormat": "rhapsode_worker.native_format",
    "DialogueRequest": "rhapsode_worker.requests",
    "Joint": "rhapsode_worker.segmenting",
    "NewVoice": "rhapsode_worker.voicing.new_voice",
    "Segment": "rhapsode_worker.segmenting",
    "SpeakRequest": "rhapsode_worker.requests",
    "Turn": "rhapsode_worker.requests",
    "Variant": "rhapsode_worker.variant",
    "VoiceStore": "rhapsode_worker.voicing.store",
    "serve": "rhapsode_worker.worker",
    "split": "rhapsode_worker.segmenting",
}


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first asked for.

    The encoder child starts through this package and needs none of it: importing it all would
    take half a second of each child's start.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "rhapsode_contract")), name)
