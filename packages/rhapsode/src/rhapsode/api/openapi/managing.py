"""The management of engines, as the document describes it (contract § 10)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from rhapsode_contract import (
    CatalogEntry,
    EngineSummary,
    ErrorCode,
    InstallJob,
    PullRequest,
    ReinstallOutdated,
)

from rhapsode.api.openapi.operation import STRING, Answer, Body, Each, Operation, Parameter
from rhapsode.api.openapi.schemas import PLACE
from rhapsode.api.openapi.speaking import ENGINE, JSON

_WORD: Final[Mapping[str, Any]] = {"type": "string", "minLength": 1}

_CATALOG_ID: Final = Parameter("engine", "path", "An id from `GET /catalog`.")

_ACCEPT: Final = Parameter(
    "accept",
    "query",
    "The catalog's `license.weights`, exactly: needed where `weightsCommercialUse` is false, and "
    "to be sent only once a person has seen both licences.",
    _WORD,
)

_JOB: Final = Parameter("job", "path", "The `id` of a job.")

_QUEUED: Final = Answer(
    "The job, which goes on by itself.", {JSON: InstallJob}, HTTPStatus.ACCEPTED
)

_NO_JOB: Final = "There is no such job; a finished one is kept until fifty newer ones have."

OPERATIONS: Final = (
    Operation(
        "GET",
        "/catalog",
        name="listCatalog",
        tag="Installs",
        summary="List every engine that exists",
        description="With both licences, to be read before an install. Open to everybody.",
        answer=Answer("Every engine, installed here or not.", {JSON: Each(CatalogEntry)}),
    ),
    Operation(
        "POST",
        "/engines/{engine}/install",
        name="installEngine",
        tag="Installs",
        summary="Install an engine",
        description="The engine can be spoken with once the job has registered it; no restart.",
        parameters=(
            _CATALOG_ID,
            Parameter("pull", "query", "A variant whose weights are fetched as well.", _WORD),
            _ACCEPT,
        ),
        answer=_QUEUED,
        errors=(ErrorCode.UNKNOWN_ENGINE, ErrorCode.CONFLICT, ErrorCode.UNSUPPORTED),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/engines/{engine}/reinstall",
        name="reinstallEngine",
        tag="Installs",
        summary="Build an engine anew beside itself, and swap it in",
        description="It speaks until the swap, and its model is loaded again after it. What was "
        "added to its virtualenv by hand is not in the new one.",
        parameters=(ENGINE, _ACCEPT),
        answer=_QUEUED,
        errors=(ErrorCode.UNKNOWN_ENGINE, ErrorCode.CONFLICT),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/installs/outdated",
        name="reinstallOutdated",
        tag="Installs",
        summary="Reinstall every engine that an upgrade left behind",
        description="Never refuses as a whole: what it cannot do without asking somebody is "
        "skipped.",
        answer=Answer(
            "What is queued, and what was skipped.",
            {JSON: ReinstallOutdated},
            HTTPStatus.ACCEPTED,
        ),
        is_guarded=True,
    ),
    Operation(
        "DELETE",
        "/engines/{engine}",
        name="uninstallEngine",
        tag="Installs",
        summary="Remove an engine that was installed here",
        description="Its weights stay. One that is speaking, or that the operator configured, is "
        "a `conflict`.",
        parameters=(ENGINE,),
        answer=Answer("It is gone.", status=HTTPStatus.NO_CONTENT),
        errors=(ErrorCode.UNKNOWN_ENGINE, ErrorCode.CONFLICT),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/engines/{engine}/pull",
        name="pullWeights",
        tag="Installs",
        summary="Download a variant's weights",
        description="Loads nothing and evicts nothing.",
        parameters=(ENGINE,),
        body=Body({JSON: PullRequest}),
        answer=_QUEUED,
        errors=(ErrorCode.UNKNOWN_ENGINE, ErrorCode.CONFLICT, ErrorCode.UNSUPPORTED),
        is_guarded=True,
    ),
    Operation(
        "POST",
        "/engines/{engine}/unload",
        name="unloadEngine",
        tag="Engines",
        summary="Free an engine's memory now",
        description="While it speaks, a `conflict`.",
        parameters=(
            ENGINE,
            Parameter(
                "mode",
                "query",
                "`terminate`, the default, ends the process, which gives all of the memory back; "
                "`unload` keeps it for a faster next load.",
                {"type": "string", "enum": ["terminate", "unload"], "default": "terminate"},
            ),
        ),
        answer=Answer("The engine as it is now.", {JSON: EngineSummary}),
        errors=(ErrorCode.UNKNOWN_ENGINE, ErrorCode.CONFLICT, ErrorCode.MODEL_UNAVAILABLE),
        is_guarded=True,
    ),
    Operation(
        "GET",
        "/installs",
        name="listJobs",
        tag="Installs",
        summary="List the jobs",
        answer=Answer("Every job, newest first.", {JSON: Each(InstallJob)}),
        is_guarded=True,
    ),
    Operation(
        "GET",
        "/installs/{job}",
        name="showJob",
        tag="Installs",
        summary="Say how a job is",
        parameters=(_JOB,),
        answer=Answer("The job.", {JSON: InstallJob}),
        is_guarded=True,
        unknown_path=_NO_JOB,
    ),
    Operation(
        "GET",
        "/installs/{job}/events",
        name="watchJob",
        tag="Installs",
        summary="Watch a job",
        description="Server-sent events: first those that are kept, then what comes. The last one "
        "of a job is a `progress` whose status is `done` or `failed`; close the stream then, the "
        "server does not. A `resync` says that some were lost: read the job anew.",
        parameters=(
            _JOB,
            Parameter("Last-Event-ID", "header", "The `id` of the last event that was seen."),
        ),
        answer=Answer(
            "Events; `data` is a `JobEvent`, `event` its `kind`.",
            {"text/event-stream": STRING},
            notes={"x-event-data": {"$ref": f"{PLACE}JobEvent"}},
        ),
        is_guarded=True,
        unknown_path=_NO_JOB,
    ),
)
