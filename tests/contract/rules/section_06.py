"""Speaking: one utterance, its answer and its errors (section 6)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "6.speak.text",
        "`text` is required.",
        is_worker_rule=True,
    ),
    Rule(
        "6.speak.whole",
        "All of a text is spoken, to its last word, in however many pieces it is made.",
        is_worker_rule=True,
    ),
    Rule(
        "6.speak.voice",
        "`voice` is an id of the engine's own list; absent means the engine's default voice.",
        is_worker_rule=True,
    ),
    Rule(
        "6.speak.variant",
        "`variant` absent means whatever is loaded, else the engine's default.",
        is_worker_rule=True,
    ),
    Rule(
        "6.format.listed",
        "Every format that the capabilities list can be asked for and is answered.",
        is_worker_rule=True,
    ),
    Rule(
        "6.format.content-type",
        "The answer's `Content-Type` says what the body is.",
        is_worker_rule=True,
    ),
    Rule(
        "6.format.heard",
        "Every format holds what was said: the same request sounds the same in each.",
        is_worker_rule=True,
    ),
    Rule(
        "6.format.opus",
        "`opus` is Ogg Opus, answered as `audio/opus`.",
        is_worker_rule=True,
    ),
    Rule(
        "6.language.default",
        "`language` absent means the first that the effective variant lists.",
        is_worker_rule=True,
    ),
    Rule(
        "6.language.single-ignored",
        "A variant that lists one language ignores the field.",
        is_worker_rule=True,
    ),
    Rule(
        "6.language.chosen",
        "A variant that lists several languages speaks the one asked for.",
        is_worker_rule=True,
    ),
    Rule(
        "6.language.unlisted",
        "A language that a variant of several languages does not list is `unsupported`.",
        is_worker_rule=True,
    ),
    Rule(
        "6.language.not-guessed",
        "The language is never inferred from the text.",
    ),
    Rule(
        "6.delivery.dropped",
        "The server drops a delivery that the effective variant does not claim and speaks "
        "without it.",
    ),
    Rule(
        "6.params.by-dials",
        "`params` are held against the dials of the effective variant.",
        is_worker_rule=True,
    ),
    Rule(
        "6.params.unknown",
        "A key in `params` that the effective variant has no dial for is refused with 400 "
        "`bad_request` naming it, never ignored.",
        is_worker_rule=True,
    ),
    Rule(
        "6.params.heard",
        "A dial changes the audio: a variant claims none that it does not turn.",
        is_worker_rule=True,
    ),
    Rule(
        "6.seed.optional",
        "`seed` may be left out.",
        is_worker_rule=True,
    ),
    Rule(
        "6.seed.reproduces",
        "The same request with the same seed gives the same audio, on an engine that can.",
        is_worker_rule=True,
    ),
    Rule(
        "6.keep-alive.not-forwarded",
        "`keepAliveSeconds` is the server's and is not sent to the worker.",
    ),
    Rule(
        "6.stream.chunked",
        "`stream: true` answers 200 in chunks, as the audio is made.",
        is_worker_rule=True,
    ),
    Rule(
        "6.stream.constant-memory",
        "The server passes a streamed answer on as it comes and holds none of it back.",
    ),
    Rule(
        "6.buffer.content-length",
        "`stream: false` answers the whole body with its `Content-Length`.",
        is_worker_rule=True,
    ),
    Rule(
        "6.buffer.only-when-asked",
        "The server holds a whole answer only for `stream: false`, that one answer, in memory, "
        "within a bound made from the variant's `maxCharacters`.",
    ),
    Rule(
        "6.buffer.errors",
        "With `stream: false` every failure, at whatever point of the synthesis, is an error "
        "envelope with its own status.",
    ),
    Rule(
        "6.duration.header",
        "With `stream: false` the header `X-Rhapsode-Duration-Ms` is the duration of the audio "
        "in milliseconds.",
        is_worker_rule=True,
    ),
    Rule(
        "6.duration.trailer",
        "With `stream: true` the duration comes as a trailer of that name.",
        is_worker_rule=True,
    ),
    Rule(
        "6.duration.best-effort",
        "A stream whose trailer is missing is still a whole answer.",
    ),
)
