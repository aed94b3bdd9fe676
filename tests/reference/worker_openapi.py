"""Makes `docs/openapi.worker.yaml`: `python -m tests.reference.worker_openapi` writes it.

What a worker serves, for who writes an engine without the SDK. Nobody serves the document itself.
"""

import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final, cast

from rhapsode.api.openapi.document import About, document, shapes_in
from rhapsode.api.openapi.engines import VOICE, VOICE_FORM
from rhapsode.api.openapi.operation import Answer, Body, Each, Operation
from rhapsode.api.openapi.schemas import schemas_of_all
from rhapsode.api.openapi.speaking import JSON, SPOKEN
from rhapsode_contract import (
    CONTRACT,
    Capabilities,
    DialogueRequest,
    ErrorCode,
    FetchRequest,
    Handshake,
    Health,
    LoadRequest,
    LogLine,
    SpeakRequest,
    Voice,
)

from .entry import ROOT

FILE: Final = ROOT / "docs" / "openapi.worker.yaml"

_SPEAKING: Final = (
    ErrorCode.UNKNOWN_VOICE,
    ErrorCode.UNSUPPORTED,
    ErrorCode.MODEL_UNAVAILABLE,
    ErrorCode.OOM,
)

_VOICES: Final = (ErrorCode.UNKNOWN_VOICE, ErrorCode.UNSUPPORTED)

OPERATIONS: Final = (
    Operation(
        "GET",
        "/health",
        name="showHealth",
        tag="Process",
        summary="Say how process and model are",
        description="At any time, also while a model loads or speaks.",
        answer=Answer("How they are.", {JSON: Health}),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/terminate",
        name="terminate",
        tag="Process",
        summary="End the process",
        description="The same as SIGTERM: it takes no more work, finishes what it has, and exits.",
        answer=Answer("It will.", status=HTTPStatus.ACCEPTED),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/load",
        name="load",
        tag="Model",
        summary="Load a variant",
        description="One that is resident already stays as it is; another is unloaded first. "
        "Without a body, or a variant in it, the default.",
        body=Body({JSON: LoadRequest}, is_required=False),
        answer=Answer("How it is now.", {JSON: Health}),
        errors=(ErrorCode.UNSUPPORTED, ErrorCode.MODEL_UNAVAILABLE, ErrorCode.OOM),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/unload",
        name="unload",
        tag="Model",
        summary="Free the model's memory",
        description="Waits for what is speaking. Without a model it does nothing.",
        answer=Answer("How it is now.", {JSON: Health}),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/fetch",
        name="fetch",
        tag="Model",
        summary="Download a variant's weights",
        description="Without loading them. An engine that has nothing of the kind is "
        "`unsupported`. Hanging up ends it; progress goes to standard error, as a `LogLine` of "
        "the event `fetch`.",
        body=Body({JSON: FetchRequest}),
        answer=Answer("They are there.", status=HTTPStatus.NO_CONTENT),
        errors=(ErrorCode.UNSUPPORTED, ErrorCode.MODEL_UNAVAILABLE),
        is_guarded=True,
    ),
    Operation(
        "GET",
        "/capabilities",
        name="showCapabilities",
        tag="Engine",
        summary="Say what the engine can do",
        description="Loads nothing.",
        answer=Answer("What it can do.", {JSON: Capabilities}),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/speak",
        name="speak",
        tag="Engine",
        summary="Speak a text",
        description="Loads the model where it is not resident. The success is sent once encoded "
        "audio exists, so that whatever fails before is an error. Hanging up stops the model.",
        body=Body({JSON: SpeakRequest}),
        answer=SPOKEN,
        errors=_SPEAKING,
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/dialogue",
        name="speakDialogue",
        tag="Engine",
        summary="Perform a conversation in one pass",
        description="`unsupported` where the variant declares no `dialogue`.",
        body=Body({JSON: DialogueRequest}),
        answer=SPOKEN,
        errors=_SPEAKING,
        is_guarded=True,
    ),
    Operation(
        "GET",
        "/voices",
        name="listVoices",
        tag="Voices",
        summary="List the voices",
        answer=Answer("The engine's voices.", {JSON: Each(Voice)}),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/voices",
        name="createVoice",
        tag="Voices",
        summary="Make a voice",
        description="Stores the reference and loads nothing: what needs the model waits for the "
        "first text in that voice.",
        body=Body({"multipart/form-data": VOICE_FORM}),
        answer=Answer("The voice.", {JSON: Voice}, HTTPStatus.CREATED),
        errors=_VOICES,
        is_guarded=True,
    ),
    Operation(
        "DELETE",
        "/voices/{voice}",
        name="deleteVoice",
        tag="Voices",
        summary="Delete a voice that was made",
        parameters=(VOICE,),
        answer=Answer("It is gone.", status=HTTPStatus.NO_CONTENT),
        errors=_VOICES,
        is_guarded=True,
    ),
    Operation(
        "GET",
        "/voices/{voice}/preview",
        name="hearVoice",
        tag="Voices",
        summary="Hear a sample of a voice",
        parameters=(VOICE,),
        answer=Answer("A sample.", {"audio/wav": {}}),
        errors=_VOICES,
        is_guarded=True,
    ),
)
"""What a worker serves."""

_ABOUT: Final = About(
    title="A Rhapsode worker",
    version=str(CONTRACT),
    description="What one engine serves to the server that started it, on the socket that the "
    "line on its standard output names (`Handshake`). The version of this document is that of the "
    "contract. Made by `python -m tests.reference.worker_openapi`; edit that.",
    tags={
        "Process": "There or not.",
        "Model": "In memory or not.",
        "Engine": "What it can do, and doing it.",
        "Voices": "Listed, heard, made and deleted.",
    },
    token="`RHAPSODE_WORKER_TOKEN`, for a worker that listens beyond its own machine.",
)


def worker_document() -> dict[str, Any]:
    """Returns the document as JSON values."""
    shapes = shapes_in(OPERATIONS, [Handshake, LogLine])
    return document(_ABOUT, OPERATIONS, schemas_of_all(shapes))


_PLAIN: Final = re.compile(r"[A-Za-z][\w./-]*(?: [\w./-]+)*", re.ASCII)

_WORDS_OF_YAML: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def yaml_text(value: object) -> str:
    """Returns JSON values as YAML, a line each."""
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, held in cast("dict[str, object]", value).items():
            yield from _entry(f"{_scalar(key)}:", held)
    elif isinstance(value, list):
        for held in cast("list[object]", value):
            inner = iter(_lines(held)) if _is_nested(held) else iter([_scalar(held)])
            yield f"- {next(inner)}"
            yield from (f"  {line}" for line in inner)


def _entry(head: str, held: object) -> Iterator[str]:
    if not _is_nested(held):
        yield f"{head} {_scalar(held)}"
        return
    yield head
    yield from (f"  {line}" for line in _lines(held))


def _is_nested(value: object) -> bool:
    return isinstance(value, dict | list) and bool(cast("dict[str, object]", value))


def _scalar(value: object) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS_OF_YAML:
        return value
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    FILE.write_text(yaml_text(worker_document()), encoding="utf-8")
