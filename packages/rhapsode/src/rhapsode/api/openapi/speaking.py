"""Speech, as the document describes it (contract § 6)."""

from collections.abc import Mapping
from typing import Any, Final

from rhapsode_contract import (
    DURATION_HEADER,
    ErrorCode,
    PublicDialogueRequest,
    PublicSpeakRequest,
)

from rhapsode.api.openapi.operation import Answer, Body, Operation, Parameter

JSON: Final = "application/json"

AUDIO: Final = ("audio/wav", "audio/mpeg", "audio/opus", "audio/flac", "audio/L16")
"""Of the formats `wav`, `mp3`, `opus`, `flac` and `pcm`."""

ENGINE: Final = Parameter("engine", "path", "An id from `GET /engines`.")

_DURATION: Final[Mapping[str, Any]] = {
    DURATION_HEADER: {
        "description": "Milliseconds of audio. A header where `stream` is false; a trailer where "
        "it is true.",
        "schema": {"type": "integer", "minimum": 0},
    }
}

SPOKEN: Final = Answer(
    "Audio. `pcm` says its rate and its channels in its `Content-Type`, as in "
    "`audio/L16; rate=24000; channels=1`.\n\n"
    "With `stream` the answer begins with the first audio. What fails after that cuts the "
    "connection, so that the body ends early: throw away what came.",
    content={media_type: {} for media_type in AUDIO},
    headers=_DURATION,
)

SPEAKING_ERRORS: Final = (
    ErrorCode.UNKNOWN_ENGINE,
    ErrorCode.UNKNOWN_VOICE,
    ErrorCode.UNSUPPORTED,
    ErrorCode.MODEL_UNAVAILABLE,
    ErrorCode.OOM,
)

OPERATIONS: Final = (
    Operation(
        "POST",
        "/speak",
        name="speak",
        tag="Speech",
        summary="Speak a text",
        description="Starts the engine and loads the model where they are not there yet. Cues that "
        "the variant does not perform are taken out of the text, and a delivery that it does not "
        "perform is dropped. Hanging up stops the engine.",
        body=Body({JSON: PublicSpeakRequest}),
        answer=SPOKEN,
        errors=SPEAKING_ERRORS,
    ),
    Operation(
        "POST",
        "/engines/{engine}/dialogue",
        name="speakDialogue",
        tag="Speech",
        summary="Perform a conversation in one pass",
        description="For a variant whose capabilities say `dialogue`; any other is `unsupported`. "
        "All turns together may be as long as one text.",
        parameters=(ENGINE,),
        body=Body({JSON: PublicDialogueRequest}),
        answer=SPOKEN,
        errors=SPEAKING_ERRORS,
    ),
)
