"""What fails: before the headers, after them, and by which code (section 6)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "6.abort.worker",
        "A worker that fails after its headers have gone breaks the connection off; it never "
        "ends the body as if it were whole.",
        is_worker_rule=True,
    ),
    Rule(
        "6.abort.server",
        "A stream that breaks off in the worker breaks off at the client too.",
    ),
    Rule(
        "6.floor.bytes",
        "A body of fewer than 256 bytes is not audio, whatever its status and type say.",
    ),
    Rule(
        "6.floor.at-end",
        "The floor counts the whole body once it has ended, so that a short one in several "
        "pieces is caught and a small first piece is not.",
    ),
    Rule(
        "6.floor.streamed",
        "With `stream: true` a body under the floor is broken off.",
    ),
    Rule(
        "6.floor.buffered",
        "With `stream: false` a body under the floor is an ordinary error envelope.",
    ),
    Rule(
        "6.errors.envelope",
        "An error is one JSON object, `error`, with a code, a message and whether it may be "
        "retried.",
        is_worker_rule=True,
    ),
    Rule(
        "6.errors.retryable",
        "`retryable` is in every error and goes with the code; no client has to infer it from "
        "the status.",
        is_worker_rule=True,
    ),
    Rule(
        "6.errors.bad-request",
        "`bad_request`, 400, not retryable: the request is malformed.",
        is_worker_rule=True,
    ),
    Rule(
        "6.errors.unknown-engine",
        "`unknown_engine`, 404, not retryable: `GET /engines` does not list the engine; only "
        "the server says so.",
    ),
    Rule(
        "6.errors.unknown-voice",
        "`unknown_voice`, 404, not retryable: `GET /voices` does not list the voice.",
        is_worker_rule=True,
    ),
    Rule(
        "6.errors.unsupported",
        "`unsupported`, 422, not retryable: a format, language or feature that the variant does "
        "not do.",
        is_worker_rule=True,
    ),
    Rule(
        "6.errors.model-unavailable",
        "`model_unavailable`, 503, retryable: the model is loading or was evicted, or a cold "
        "start ran out of its time; a client keeps the job.",
    ),
    Rule(
        "6.errors.oom",
        "`oom`, 503, retryable: the device has no memory left.",
    ),
    Rule(
        "6.errors.overloaded",
        "`overloaded`, 429, retryable: the worker is draining, or as many requests wait as it "
        "lets wait.",
        is_worker_rule=True,
    ),
    Rule(
        "6.errors.internal",
        "`internal`, 500, not retryable: the adapter failed.",
    ),
    Rule(
        "6.errors.forbidden",
        "`forbidden`, 403, not retryable: a management route was called from where it does not "
        "answer.",
    ),
    Rule(
        "6.errors.conflict",
        "`conflict`, 409, not retryable: a management route was asked for what the present "
        "state rules out.",
    ),
)
