"""Engines and their voices, as the document describes them (contract §§ 4, 7)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from rhapsode_contract import VOICE_ID_PATTERN, Capabilities, EngineSummary, ErrorCode, Voice

from rhapsode.api.openapi.operation import Answer, Body, Each, Operation, Parameter
from rhapsode.api.openapi.speaking import ENGINE, JSON

_VOICE_ID: Final[Mapping[str, Any]] = {"type": "string", "pattern": f"^{VOICE_ID_PATTERN}$"}

VOICE: Final = Parameter("voice", "path", "An id from the engine's voices.", _VOICE_ID)

VOICE_FORM: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "Exactly one of `reference` and `blend`.",
    "required": ["id", "label"],
    "properties": {
        "id": {
            **_VOICE_ID,
            "description": "What the voice is called; one that exists is replaced.",
        },
        "label": {"type": "string", "description": "What people read."},
        "reference": {
            "type": "string",
            "format": "binary",
            "description": "A file of a type in `current.cloning.formats`, 25 MB at most.",
        },
        "transcript": {
            "type": "string",
            "description": "The words spoken in the reference, for an engine that wants them.",
        },
        "blend": {
            "type": "string",
            "description": "A mix of voices of the engine, such as `af_bella(2)+af_sky(1)`.",
        },
    },
    "oneOf": [{"required": ["reference"]}, {"required": ["blend"]}],
}

STARTS_A_PROCESS: Final = (
    ErrorCode.UNKNOWN_ENGINE,
    ErrorCode.MODEL_UNAVAILABLE,
    ErrorCode.OVERLOADED,
)
"""What an engine may answer that is started to be asked, and loads nothing."""

OPERATIONS: Final = (
    Operation(
        "GET",
        "/engines",
        name="listEngines",
        tag="Engines",
        summary="List the engines of this server",
        description="Starts nothing. What is not installed yet is in the catalog.",
        answer=Answer("Every engine, and what it is doing.", {JSON: Each(EngineSummary)}),
    ),
    Operation(
        "GET",
        "/engines/{engine}/capabilities",
        name="showCapabilities",
        tag="Engines",
        summary="Say what an engine can do",
        description="Starts the engine where it is down; loads no model.",
        parameters=(ENGINE,),
        answer=Answer("What it can do.", {JSON: Capabilities}),
        errors=STARTS_A_PROCESS,
    ),
    Operation(
        "GET",
        "/engines/{engine}/voices",
        name="listVoices",
        tag="Voices",
        summary="List an engine's voices",
        description="Starts the engine where it is down; loads no model.",
        parameters=(ENGINE,),
        answer=Answer("Its voices.", {JSON: Each(Voice)}),
        errors=STARTS_A_PROCESS,
    ),
    Operation(
        "POST",
        "/engines/{engine}/voices",
        name="createVoice",
        tag="Voices",
        summary="Make a voice",
        description="From a reference or from voices that the engine has, as its capabilities say "
        "in `cloning` and `blending`. Loads no model.",
        parameters=(ENGINE,),
        body=Body({"multipart/form-data": VOICE_FORM}),
        answer=Answer("The voice, as the list has it.", {JSON: Voice}, HTTPStatus.CREATED),
        errors=(*STARTS_A_PROCESS, ErrorCode.UNKNOWN_VOICE, ErrorCode.UNSUPPORTED, ErrorCode.OOM),
        is_guarded=True,
    ),
    Operation(
        "DELETE",
        "/engines/{engine}/voices/{voice}",
        name="deleteVoice",
        tag="Voices",
        summary="Delete a voice that was made",
        description="One of the engine's own is `unsupported`; one that replaced it gives it back.",
        parameters=(ENGINE, VOICE),
        answer=Answer("It is gone.", status=HTTPStatus.NO_CONTENT),
        errors=(*STARTS_A_PROCESS, ErrorCode.UNKNOWN_VOICE, ErrorCode.UNSUPPORTED),
        is_guarded=True,
    ),
    Operation(
        "GET",
        "/engines/{engine}/voices/{voice}/preview",
        name="hearVoice",
        tag="Voices",
        summary="Hear a sample of a voice",
        description="Follow a voice's `previewUrl`; where that is absent there is no sample, which "
        "is `unsupported`. Loads no model.",
        parameters=(ENGINE, VOICE),
        answer=Answer("A sample.", {"audio/wav": {}}),
        errors=(*STARTS_A_PROCESS, ErrorCode.UNKNOWN_VOICE, ErrorCode.UNSUPPORTED),
    ),
)
