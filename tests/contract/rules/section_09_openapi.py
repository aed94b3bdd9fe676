"""The description of the API (section 9)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "9.openapi.served",
        "`GET /openapi.json` answers every caller with the public API as an OpenAPI 3.1 document, "
        "made of the shapes that the routes use.",
    ),
    Rule(
        "9.openapi.public",
        "Every public route is in it but `/mcp`, and no route of a worker.",
    ),
    Rule(
        "9.openapi.version",
        "Its `info.version` is the version of the server that is running.",
    ),
    Rule(
        "9.openapi.true",
        "The server gives no answer that the document does not describe, errors included.",
    ),
    Rule(
        "9.openapi.worker",
        "What a worker serves is described in `docs/openapi.worker.yaml`, which nobody serves.",
    ),
)
