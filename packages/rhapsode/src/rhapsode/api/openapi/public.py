"""The public API in one document: what is in it, and what is said first."""

from collections.abc import Mapping
from typing import Any, Final

from rhapsode_contract import JobEvent

from rhapsode.api.openapi import engines, managing, server, settings, speaking
from rhapsode.api.openapi.document import About, document, shapes_in
from rhapsode.api.openapi.schemas import Node

OPERATIONS: Final = (
    *speaking.OPERATIONS,
    *engines.OPERATIONS,
    *managing.OPERATIONS,
    *settings.OPERATIONS,
    *server.OPERATIONS,
)
"""Every public route and method but `/mcp`, whose operations are its tools."""

SHAPES: Final = tuple(shapes_in(OPERATIONS, [JobEvent]))


WORDS: Final[Mapping[tuple[str, str], str]] = {
    ("Current", "cloning"): "Whether it makes a voice from a reference, and what it takes.",
    ("Variant", "cloning"): "Where it is absent, see `current`.",
    **{(shape, "blending"): "Absent means no." for shape in ("Current", "Variant")},
    **{(shape, "dialogue"): "Absent: it performs none." for shape in ("Current", "Variant")},
    ("PublicSpeakRequest", "delivery"): "How a whole line is read; absent is an ordinary reading.",
    ("Device", "type"): "`cuda`, `rocm`, `mps` or `cpu`; there may be more.",
    ("EngineSummary", "workerVersion"): "The release that this engine was installed from.",
    ("License", "code"): "SPDX expression for the code that runs.",
    ("PublicDialogueRequest", "keepAliveSeconds"): "How long the model stays in memory afterwards: "
    "-1 until the room is needed, 0 not at all.",
    ("PublicSpeakRequest", "keepAliveSeconds"): "How long the model stays in memory afterwards: "
    "-1 until the room is needed, 0 not at all.",
    (
        "ResidentModel",
        "sizeBytes",
    ): "What it takes of the memory; absent where nothing measured it.",
}
"""What a caller reads under a field whose own words are for whoever writes an engine, by the shape
and the field: that there are workers is nothing a caller has to know."""


def public_document(version: str, schemas: Mapping[str, Node]) -> dict[str, Any]:
    """Returns the document as JSON values.

    Args:
        version: The release that is running, which is not the contract.
        schemas: Those of `SHAPES`.
    """
    about = About(
        title="Rhapsode",
        version=version,
        description=_DESCRIPTION,
        tags={
            "Speech": "Text in, audio out.",
            "Engines": "What this server has, and what each engine can do.",
            "Voices": "Of an engine: listed, heard, made and deleted.",
            "Installs": "Engines that exist; their installs, and the jobs that do them.",
            "Settings": "What an operator decides.",
            "Server": "How it is, and how current.",
        },
        token="`management.token` of this server's settings. Not needed by programs on its own "
        "machine.",
    )
    named = {name: _reworded(name, schema) for name, schema in schemas.items()}
    named[settings.PATCH_NAME] = settings.patch_schema()
    return document(about, OPERATIONS, named)


def _reworded(name: str, schema: Node) -> Node:
    if "properties" not in schema:
        return schema
    properties = {
        field: {**said, "description": WORDS[name, field]} if (name, field) in WORDS else said
        for field, said in schema["properties"].items()
    }
    return {**schema, "properties": properties}


_DESCRIPTION: Final = """\
Speech from text, on many engines, through one set of routes.

Fields that you do not know are to be ignored: new ones may come. The other way round an unknown \
field is refused. A field that is absent is never sent as null.

Every answer that is no success carries an error: decide by `code` and `retryable`, the message \
is for people. Of a code that is not listed here, keep the message and `retryable`. A path that \
nobody serves is 404 and a method that it does not take 405, both `bad_request`.

Routes with a lock answer programs on the server's own machine, and callers that show its token; \
pages of web sites only from origins that it lists."""
