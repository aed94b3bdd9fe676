"""The promises that the contract leaves to its design, in its order.

What `promises` lists before them is the contract's own.
"""

from typing import Final

from rhapsode_conform.promise import must, should

DETAILS: Final = (
    must("d.codes.malformed", "Malformed JSON is `bad_request` with the position of the fault."),
    must("d.codes.content-type", "A body of the wrong content type is `bad_request`."),
    must(
        "d.codes.unknown-field",
        "A field that a request does not have is `bad_request` naming it.",
    ),
    must(
        "d.codes.wrong-type",
        "A value of the wrong type is `bad_request`, and so is `true` where a number is meant.",
    ),
    must("d.codes.non-finite", "A number that is not finite is `bad_request`."),
    should("d.codes.coerced", "A number written as a string is read as that number."),
    should("d.codes.coerced-boolean", "A boolean written as a word is read as that boolean."),
    must(
        "d.codes.too-long",
        "Text over `maxCharacters` is `bad_request`, from the server and from the worker.",
    ),
    must(
        "d.codes.unspeakable",
        "Text without a letter, a digit or a claimed cue is `bad_request` naming the field, "
        "from every entry.",
    ),
    must("d.codes.delivery-word", "A delivery outside the vocabulary is `bad_request`."),
    must(
        "d.codes.delivery-unclaimed",
        "A worker asked directly for a delivery that its variant does not claim answers "
        "`unsupported`.",
    ),
    must(
        "d.codes.dial-range",
        "A dial out of its range is `bad_request`; the limits themselves are allowed.",
    ),
    must(
        "d.codes.format-open",
        "`format` is any string: one that the worker does not list is `unsupported`, never "
        "malformed.",
    ),
    must("d.codes.variant", "A variant that the engine does not list is `unsupported`."),
    should(
        "d.cues.worker-strips",
        "The SDK takes unclaimed cues out too, for whoever talks to a worker directly.",
    ),
    must("d.cues.matching", "A cue is recognised whatever its case and inner white space."),
    must("d.variant.default", "The first key of `variants` is the engine's default."),
    must("d.defaults.format", "`format` absent means `wav`."),
    must("d.defaults.stream", "`stream` absent means false."),
    should("d.limits.body", "A JSON body over 1 MiB is refused as `bad_request`."),
    must("d.errors.everywhere", "Every answer that is no success is an error envelope."),
    must("d.errors.unknown-route", "A route nobody serves is 404 `bad_request`."),
    must(
        "d.errors.method",
        "A method that a route does not have is 405 `bad_request` with `Allow`.",
    ),
    should("d.errors.retry-after", "Every retryable refusal carries `Retry-After`."),
    should("d.errors.near-voices", "The message of `unknown_voice` lists voices of similar names."),
    must("d.errors.never-audio", "An error is never sent as `audio/*`."),
    must(
        "d.formats.types",
        "The types are `audio/wav`, `audio/mpeg`, `audio/opus`, `audio/flac` and, for `pcm`, "
        "`audio/L16` with rate and channels.",
    ),
    must(
        "d.formats.wav-streamed",
        "A streamed WAV has one header, with sizes 0xFFFFFFFF, and nothing after the samples.",
    ),
    must(
        "d.formats.wav-buffered",
        "A buffered WAV has one header, with exact sizes, and nothing after the samples.",
    ),
    should(
        "d.stream.headers",
        "A streamed answer carries `Cache-Control: no-store` and `X-Accel-Buffering: no`.",
    ),
    must(
        "d.json.camel-case",
        "All JSON is camelCase, and an optional field without a value is absent, never null.",
    ),
    must(
        "d.verbs.answers",
        "`POST /load` and `POST /unload` answer with the worker's health, `POST /terminate` "
        "with 202, `POST /fetch` with 204.",
    ),
    should(
        "d.request-id.answered",
        "Every answer carries `X-Request-Id`, which the logs of the server and of the worker "
        "carry too.",
    ),
    should(
        "d.segments.mode-free",
        "How text is split depends on the text and the variant alone, never on `stream`.",
    ),
    must("d.listing.no-model", "Capabilities and voices are told without loading a model."),
    must(
        "d.preview.no-model",
        "A preview never loads a model; without a stored sample `previewUrl` is absent and "
        "the route is `unsupported`.",
    ),
    should(
        "d.queue.limit",
        "More requests than a worker lets wait are refused at once as `overloaded`, and none "
        "fails in another way.",
    ),
    should(
        "d.queue.hang-up",
        "A client that leaves frees the engine as soon as its model can be stopped, through "
        "the server as well.",
    ),
    should(
        "d.queue.responsive",
        "Health and listings answer at once while a model loads and while the worker speaks.",
    ),
    should(
        "d.drain.reads",
        "While a worker drains its GET routes answer and everything else is refused.",
    ),
    should(
        "d.life.ends-with-server",
        "A worker told that standard input is its life line ends when that is closed.",
    ),
)
