"""The server itself, as the document describes it (contract §§ 3, 9)."""

from typing import Final

from rhapsode_contract import CoreHealth, ResidencyDetail, UpdateStatus

from rhapsode.api.openapi.operation import STRING, Answer, Operation
from rhapsode.api.openapi.speaking import JSON

OPERATIONS: Final = (
    Operation(
        "GET",
        "/health",
        name="showHealth",
        tag="Server",
        summary="Say how the server is",
        description="Answers from memory and starts nothing. Read `contract` here to learn what "
        "may be sent; `version` is for display.",
        answer=Answer("How it is.", {JSON: CoreHealth}),
    ),
    Operation(
        "GET",
        "/residency",
        name="showResidency",
        tag="Server",
        summary="List the models in memory",
        answer=Answer("Which there are, and until when.", {JSON: ResidencyDetail}),
    ),
    Operation(
        "GET",
        "/metrics",
        name="showMetrics",
        tag="Server",
        summary="Give figures to a monitor",
        answer=Answer("Figures in Prometheus's text format.", {"text/plain": STRING}),
    ),
    Operation(
        "GET",
        "/update",
        name="showUpdate",
        tag="Server",
        summary="Say whether a newer release exists",
        description="Never waits: the first call sets off a check and reads `pending`. An answer "
        "stands for a day, a failure for six hours.",
        answer=Answer("What is known.", {JSON: UpdateStatus}),
    ),
    Operation(
        "POST",
        "/update/check",
        name="checkForUpdate",
        tag="Server",
        summary="Ask now whether a newer release exists",
        description="Waits ten seconds at most. Asks nobody where the last check is less than five "
        "minutes old, or checks are turned off. A check that failed is an answer, not an error.",
        answer=Answer("What is known now.", {JSON: UpdateStatus}),
    ),
    Operation(
        "GET",
        "/openapi.json",
        name="showDescription",
        tag="Server",
        summary="Give this document",
        answer=Answer("The public API of this very server.", {JSON: {"type": "object"}}),
    ),
)
