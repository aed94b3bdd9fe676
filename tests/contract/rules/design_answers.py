"""Decisions on answers: formats, headers, envelopes, deadlines (design)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "d.errors.everywhere",
        "Every answer that is no success is an error envelope.",
        is_worker_rule=True,
    ),
    Rule(
        "d.errors.unknown-route",
        "A route nobody serves is 404 `bad_request`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.errors.method",
        "A method that a route does not have is 405 `bad_request` with `Allow`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.errors.retry-after",
        "Every retryable refusal carries `Retry-After`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.errors.message",
        "A message names the field, what came and what is allowed.",
    ),
    Rule(
        "d.errors.near-voices",
        "The message of `unknown_voice` lists voices of similar names.",
        is_worker_rule=True,
    ),
    Rule(
        "d.errors.never-audio",
        "An error is never sent as `audio/*`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.errors.unknown-code",
        "A code that the reader does not know keeps its message and whether it may be retried.",
    ),
    Rule(
        "d.formats.types",
        "The types are `audio/wav`, `audio/mpeg`, `audio/opus`, `audio/flac` and, for `pcm`, "
        "`audio/L16` with rate and channels.",
        is_worker_rule=True,
    ),
    Rule(
        "d.formats.wav-streamed",
        "A streamed WAV has one header, with sizes 0xFFFFFFFF, and nothing after the samples.",
        is_worker_rule=True,
    ),
    Rule(
        "d.formats.wav-buffered",
        "A buffered WAV has one header, with exact sizes, and nothing after the samples.",
        is_worker_rule=True,
    ),
    Rule(
        "d.formats.codec-missing",
        "A format whose codec is missing is not listed and is `unsupported`, saying so.",
    ),
    Rule(
        "d.stream.headers",
        "A streamed answer carries `Cache-Control: no-store` and `X-Accel-Buffering: no`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.stream.events-heartbeat",
        "A stream of events sends a comment every 15 seconds.",
    ),
    Rule(
        "d.stream.abort",
        "A stream is broken off by closing the connection without its last chunk, and without a "
        "reset.",
    ),
    Rule(
        "d.start.audio-first",
        "A worker answers 200 only once encoded audio exists: every failure before the first "
        "audio is an envelope, streamed or not.",
    ),
    Rule(
        "d.buffer.bound",
        "A buffered body is at most one second of the engine's own PCM for each character.",
    ),
    Rule(
        "d.deadlines.start",
        "A worker silent for `startupTimeoutSeconds` is `model_unavailable`, naming the deadline.",
    ),
    Rule(
        "d.deadlines.load",
        "A load that takes more than 600 seconds is `model_unavailable`, naming the deadline; "
        "progress of a download starts the time again.",
    ),
    Rule(
        "d.deadlines.first-audio",
        "No audio within 120 seconds of a request's turn is an error naming the deadline.",
    ),
    Rule(
        "d.deadlines.stall",
        "A stream with 120 seconds between two bytes is broken off.",
    ),
    Rule(
        "d.deadlines.buffered",
        "A buffered answer has 120 seconds for each segment of its text.",
    ),
    Rule(
        "d.deadlines.slow-client",
        "A client that takes no byte for 120 seconds is dropped.",
    ),
    Rule(
        "d.deadlines.eviction-wait",
        "A wait for room of more than `evictionWaitSeconds` is `model_unavailable`.",
    ),
    Rule(
        "d.json.camel-case",
        "All JSON is camelCase, and an optional field without a value is absent, never null.",
        is_worker_rule=True,
    ),
    Rule(
        "d.verbs.answers",
        "`POST /load` and `POST /unload` answer with the worker's health, `POST /terminate` "
        "with 202, `POST /fetch` with 204.",
        is_worker_rule=True,
    ),
    Rule(
        "d.request-id.answered",
        "Every answer carries `X-Request-Id`, which the logs of the server and of the worker "
        "carry too.",
        is_worker_rule=True,
    ),
    Rule(
        "d.seeds.segments",
        "Segment n of a request with seed s is made with seed s + n, streamed or not.",
    ),
    Rule(
        "d.segments.first",
        "The first segment may be smaller, and each later one is at most twice the one before, "
        "up to the segment size.",
    ),
    Rule(
        "d.segments.mode-free",
        "How text is split depends on the text and the variant alone, never on `stream`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.health.degraded",
        "The server's health is `degraded` when an engine has failed for good, else `ok`.",
    ),
    Rule(
        "d.listing.starts-nothing",
        "`GET /engines` and `GET /health` start no process and wait for none.",
    ),
    Rule(
        "d.listing.no-model",
        "Capabilities and voices start a process that is down but never load a model.",
        is_worker_rule=True,
    ),
    Rule(
        "d.preview.no-model",
        "A preview never loads a model; without a stored sample `previewUrl` is absent and the "
        "route is `unsupported`.",
        is_worker_rule=True,
    ),
)
