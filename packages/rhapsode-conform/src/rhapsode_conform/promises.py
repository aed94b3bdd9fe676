"""The promises of the worker protocol, one a line, in the order of the contract.

The ids are those of the rules of the contract that they stand for. A `must` that is broken makes a
worker one that does not conform; a `should` that is broken is told and forgiven.

One file, although a long one: it is a list, and it is read as one. What the design adds to the
contract stands in `design_promises`.
"""

from typing import Final

from rhapsode_conform.design_promises import DETAILS
from rhapsode_conform.promise import Promise, must, should

PROTOCOL: Final = (
    must(
        "1.protocol.shared",
        "A worker answers the public API's own routes for one engine, with no engine in the "
        "path or the body; there is no second protocol.",
    ),
    must(
        "1.protocol.by-hand",
        "A worker runs and speaks on its own, started by hand and driven with curl; nothing "
        "of the server has to be there.",
    ),
    must(
        "1.routes.worker",
        "A worker serves `GET /capabilities`, `GET /voices`, `GET /health`, `POST /load`, "
        "`POST /unload`, `POST /terminate`, `POST /fetch`, `POST /speak` and `POST "
        "/dialogue`.",
    ),
    must(
        "1.transport.unix",
        "A worker speaks HTTP over a Unix domain socket unless it is told otherwise.",
    ),
    must("1.transport.tcp", "Told to listen on TCP, a worker speaks the same protocol there."),
    must(
        "1.transport.chunked",
        "Streamed audio is the HTTP body in chunked transfer encoding, with no framing of our"
        " own inside it.",
    ),
)

LIFE: Final = (
    must("2.spawn.three-suffice", "A worker given only those three variables starts and works."),
    must(
        "2.spawn.listen-unix",
        "`unix:/path` as the address makes the worker listen on that socket.",
    ),
    must(
        "2.spawn.listen-tcp",
        "`tcp:host:port` as the address makes the worker listen there; port 0 takes a free "
        "port, and the handshake names it.",
    ),
    must(
        "2.handshake.one-line",
        "A worker prints exactly one JSON line to standard output, once it is bound and ready.",
    ),
    must(
        "2.handshake.bound",
        "A connection made as soon as the handshake has been read is accepted: the line is "
        "not printed a moment before.",
    ),
    must(
        "2.handshake.fields",
        "The handshake says `ready`, the contract version, the engine's id and the address "
        "the worker listens on.",
    ),
    must(
        "2.handshake.stdout-reserved",
        "Nothing but the handshake ever reaches a worker's standard output, whatever an "
        "adapter or its libraries print.",
    ),
    must(
        "2.logs.json-lines",
        "A worker's log is JSON lines on standard error: a line that begins with `{` is an object "
        "with its `level` and its `message`, and where anything comes there is one at least.",
    ),
    should(
        "2.logs.nothing-raw",
        "Standard error holds nothing but the log, even where a native library writes to file "
        "descriptor 2.",
    ),
    must(
        "2.stop.refuses",
        "After SIGTERM a worker refuses new requests with 429 `overloaded`, retryable.",
    ),
    must("2.stop.finishes", "After SIGTERM a worker finishes every request in flight, whole."),
    must("2.stop.exits-zero", "A worker that has drained exits with status 0."),
    must(
        "2.stop.terminate",
        "`POST /terminate` makes a worker drain and end just as SIGTERM does.",
    ),
)

MODELS: Final = (
    must("3.start.loads-nothing", "A worker starts with no model loaded."),
    must(
        "3.health.both",
        "`GET /health` tells the state of the process apart from the state of the model, with"
        " the device, and with the variant where one is loaded.",
    ),
    must(
        "3.health.vram",
        "`vramBytes` is what the device holds in use, by whomever; it is absent where nothing"
        " can measure it.",
    ),
    must(
        "3.health.model-bytes-honest",
        "`modelBytes` is left out where nothing could be measured; it is never zero or negative.",
    ),
    must(
        "3.speak.loads",
        "`POST /speak` loads the model it needs when that is not resident, and then speaks; "
        "no client has to load first.",
    ),
    must(
        "3.unload.keeps-process",
        "`POST /unload` frees the model and keeps the process, which can load again.",
    ),
    must("3.unload.idempotent", "`POST /unload` with nothing loaded succeeds and changes nothing."),
    must(
        "3.policy.worker-obeys",
        "A worker never unloads or ends by itself for being idle: residency is the server's "
        "decision.",
    ),
)

CAPABILITIES: Final = (
    must(
        "4.document.parts",
        "`GET /capabilities` says the contract version, the engine, its licences, the device,"
        " what is current, every variant and the audio formats.",
    ),
    must(
        "4.engine.identity",
        "The document names the engine's id, its display name, the adapter's version and, "
        "where there is one, the upstream's version.",
    ),
    must(
        "4.license.code-and-weights",
        "The licence of the code and that of the weights are declared apart, with whether the"
        " weights may be used commercially.",
    ),
    must(
        "4.device.named",
        "The document names the device's type and its name, with its total memory where that "
        "is known.",
    ),
    must(
        "4.variants.always",
        "`variants` is in the document whether or not a model is loaded, and an engine with "
        "one build lists that one.",
    ),
    must("4.variants.loadable", "`variants` lists only what this worker, on this box, can load."),
    must("4.variants.named", "The name of a variant is never empty."),
    must(
        "4.variants.languages",
        "A variant that lists its languages lists one at least, each once; one that does not "
        "know them leaves the field out.",
    ),
    must(
        "4.variants.own-abilities",
        "Each variant declares its own cues, deliveries and dials, a dial with its least, "
        "greatest and default value.",
    ),
    must("4.current.absent", "`current` is absent while no model is resident."),
    must(
        "4.current.resident",
        "`current` names the resident variant and repeats what that variant declares.",
    ),
    must("4.current.follows-switch", "After a switch of variants `current` describes the new one."),
    must("4.current.limits", "`current` always says `maxCharacters` and how long text is split."),
    must(
        "4.current.native-format",
        "`current` says the encoding, sample rate and channels that the engine makes, and "
        "whether it streams.",
    ),
    must(
        "4.effective.request-first",
        "The effective variant is the one that the request names, whatever is loaded.",
    ),
    should(
        "4.cloning.per-variant",
        "Each variant says whether it clones voices, and says so with no model loaded.",
    ),
    must(
        "4.cloning.references",
        "What a variant says of references can be relied on: `referenceSeconds` is the least, "
        "then the most; `formats` are endings in lower case, without the dot.",
    ),
    must(
        "4.blending.absent",
        "A variant blends voices only if it says so; absent means that it does not.",
    ),
    must(
        "4.dialogue.declared",
        "A variant that performs dialogue declares it with its largest number of speakers; "
        "any other leaves the field out.",
    ),
)

VOCABULARY: Final = (
    must(
        "5.cues.closed-set",
        "Cues come from one closed set: laugh, chuckle, sigh, gasp, cough, clear throat, "
        "sniff and groan; an engine claims no other.",
    ),
    must(
        "5.cues.claimed-subset",
        "An engine claims the cues that it performs, which may be some of the set or none.",
    ),
    must(
        "5.deliveries.closed-set",
        "A delivery is `hushed` or `frantic`; an engine claims no other.",
    ),
    must(
        "5.deliveries.translated",
        "The adapter turns a delivery into its engine's own numbers; the client sends the "
        "word alone.",
    ),
)

SPEAKING: Final = (
    must("6.speak.text", "`text` is required."),
    must(
        "6.speak.whole",
        "All of a text is spoken, to its last word, in however many pieces it is made.",
    ),
    must(
        "6.speak.voice",
        "`voice` is an id of the engine's own list; absent means the engine's default voice.",
    ),
    must(
        "6.speak.variant",
        "`variant` absent means whatever is loaded, else the engine's default.",
    ),
    must(
        "6.format.listed",
        "Every format that the capabilities list can be asked for and is answered.",
    ),
    must("6.format.content-type", "The answer's `Content-Type` says what the body is."),
    must(
        "6.format.heard",
        "Every format holds what was said: the same request sounds the same in each.",
    ),
    must("6.format.opus", "`opus` is Ogg Opus, answered as `audio/opus`."),
    must(
        "6.language.chosen",
        "A variant that lists several languages speaks the one asked for.",
    ),
    must(
        "6.language.default",
        "`language` absent means the first that the effective variant lists.",
    ),
    must("6.language.single-ignored", "A variant that lists one language ignores the field."),
    must(
        "6.language.unlisted",
        "A language that a variant of several languages does not list is `unsupported`.",
    ),
    must("6.params.by-dials", "`params` are held against the dials of the effective variant."),
    must(
        "6.params.unknown",
        "A key in `params` that the effective variant has no dial for is refused with 400 "
        "`bad_request` naming it, never ignored.",
    ),
    must(
        "6.params.heard",
        "A dial changes the audio: a variant claims none that it does not turn.",
    ),
    must("6.seed.optional", "`seed` may be left out."),
    should(
        "6.seed.reproduces",
        "The same request with the same seed gives the same audio, on an engine that can.",
    ),
    must("6.stream.chunked", "`stream: true` answers 200 in chunks, as the audio is made."),
    must(
        "6.buffer.content-length",
        "`stream: false` answers the whole body with its `Content-Length`.",
    ),
    must(
        "6.duration.header",
        "With `stream: false` the header `X-Rhapsode-Duration-Ms` is the duration of the "
        "audio in milliseconds.",
    ),
    should(
        "6.duration.trailer",
        "With `stream: true` the duration comes as a trailer of that name.",
    ),
    must(
        "6.abort.worker",
        "A worker that fails after its headers have gone breaks the connection off; it never "
        "ends the body as if it were whole.",
    ),
    must(
        "6.errors.envelope",
        "An error is one JSON object, `error`, with a code, a message and whether it may be "
        "retried.",
    ),
    must(
        "6.errors.retryable",
        "`retryable` is in every error and goes with the code; no client has to infer it from"
        " the status.",
    ),
    must("6.errors.bad-request", "`bad_request`, 400, not retryable: the request is malformed."),
    must(
        "6.errors.unknown-voice",
        "`unknown_voice`, 404, not retryable: `GET /voices` does not list the voice.",
    ),
    must(
        "6.errors.unsupported",
        "`unsupported`, 422, not retryable: a format, language or feature that the variant "
        "does not do.",
    ),
    must(
        "6.errors.overloaded",
        "`overloaded`, 429, retryable: the worker is draining, or as many requests wait as it"
        " lets wait.",
    ),
    must(
        "6.dialogue.undeclared",
        "A variant that does not declare dialogue answers the route with `unsupported`.",
    ),
    must(
        "6.dialogue.turns",
        "`turns` is required and holds at least one turn, each a speaker and a text.",
    ),
    must("6.dialogue.every-turn", "Every turn of a dialogue is spoken."),
    must(
        "6.dialogue.speakers",
        "A speaker is a label that the request makes up; `voices` gives some or all of them a "
        "voice, and that is what they speak in.",
    ),
    must("6.dialogue.no-voice", "A speaker without a voice is read in one that the model picks."),
    must("6.dialogue.unknown-voice", "A voice that the engine does not have is `unknown_voice`."),
    must("6.dialogue.unused-label", "A label in `voices` that no turn uses is `bad_request`."),
    must(
        "6.dialogue.too-many-speakers",
        "More distinct speakers than the variant declares is `unsupported`.",
    ),
    must(
        "6.dialogue.budget",
        "`maxCharacters` bounds the sum of all turns: a dialogue is one take with one budget.",
    ),
    must(
        "6.dialogue.cues",
        "The cues that a variant claims are performed in every turn of a dialogue.",
    ),
    must("6.dialogue.no-delivery", "A dialogue has no delivery."),
    must(
        "6.dialogue.as-speak",
        "`variant`, `format`, `language`, `params`, `seed` and `stream` mean in a dialogue what "
        "they mean to `/speak`, and are refused for the same reasons.",
    ),
)

VOICES: Final = (
    must(
        "7.voices.listed",
        "`GET /voices` lists the engine's voices, each with an id, a label and a spec.",
    ),
    must(
        "7.voices.distinct",
        "`voice` chooses who speaks: the voices of an engine do not all sound the same.",
    ),
    must(
        "7.id.grammar",
        "A voice id is 1 to 64 letters, digits, `-` and `_`, beginning with a letter or a "
        "digit; anything else is `bad_request` before an adapter sees it.",
    ),
    must(
        "7.unknown.no-substitute",
        "A voice that the engine does not have is refused and never replaced by another.",
    ),
    must(
        "7.create.route",
        "`POST /voices` makes a voice from a form and answers 201 with it as the list shows "
        "it; `DELETE` on a voice answers 204 and removes it.",
    ),
    must(
        "7.create.label",
        "A voice that is made is listed under the label that it was given.",
    ),
    must(
        "7.create.heard",
        "A voice is made of its reference: another reference makes another voice.",
    ),
    should(
        "7.create.transcript",
        "The transcript is optional; an engine that needs one refuses a create without it as "
        "`bad_request` naming the field, and one that does not read it ignores it.",
    ),
    must(
        "7.create.replaces",
        "Creating an id that exists replaces that voice and changes its spec.",
    ),
    must(
        "7.create.one-source",
        "A create carries either a reference or a blend; both or neither is `bad_request`.",
    ),
    must(
        "7.create.reference",
        "A reference of a type that the engine does not list is `unsupported`; one of a "
        "listed type with the wrong contents is `bad_request`.",
    ),
    must(
        "7.create.never-unpickled",
        "An uploaded reference is read as data; nothing in it is ever run.",
    ),
    must(
        "7.create.impossible",
        "An engine that makes no voices, or none in the way asked for, answers `unsupported`.",
    ),
    must("7.create.loads-nothing", "Creating a voice loads no model and evicts none."),
    must(
        "7.create.kept",
        "A voice that is made is kept: it is listed as it was after the worker has started again.",
    ),
    must(
        "7.blend.recipe",
        "A blend is a sum of listed voices with positive weights, 1 where none is given, "
        "scaled to sum to 1; a name not listed is `unknown_voice`.",
    ),
    must(
        "7.blend.weights",
        "A blend has as much of each voice as its weight says: other weights make another voice.",
    ),
    must(
        "7.blend.fixed",
        "A blend is worked out when it is made: later changes to its parts do not change it.",
    ),
)

SDK: Final = (
    must(
        "8.checks.max-characters",
        "Text over `maxCharacters` is refused before the engine sees it.",
    ),
    must(
        "8.checks.params",
        "Dials that are not declared, or out of their range, are refused before the engine "
        "sees them.",
    ),
    must(
        "8.serial.default",
        "Requests that come at once are each spoken as if they had come alone.",
    ),
    must(
        "8.fetch.optional",
        "An adapter without `fetch` answers `POST /fetch` with `unsupported`.",
    ),
    must(
        "8.fetch.downloads",
        "`POST /fetch` gets a variant's weights without putting them on the device.",
    ),
    must(
        "8.split.declared",
        "The capability document says whether text is split and how much text one generation gets.",
    ),
    must(
        "8.claims.accepted",
        "Everything that a variant claims, each cue, delivery, dial, language and format, is "
        "accepted when asked for.",
    ),
)

VERSIONS: Final = (
    must(
        "9.answer.highest",
        "A worker answers with the highest contract that it supports and that is not above "
        "the offer.",
    ),
    must("9.answer.reported", "The handshake and the capabilities report that same number."),
    must(
        "9.refuse.too-low",
        "Offered less than everything it supports, a worker exits non-zero before any "
        "handshake, naming both numbers on standard error.",
    ),
)

PROMISES: Final[tuple[Promise, ...]] = (
    *PROTOCOL,
    *LIFE,
    *MODELS,
    *CAPABILITIES,
    *VOCABULARY,
    *SPEAKING,
    *VOICES,
    *SDK,
    *VERSIONS,
    *DETAILS,
)
"""All of them."""
