"""Decisions on requests: what is accepted, what is refused and how (design)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "d.codes.malformed",
        "Malformed JSON is `bad_request` with the position of the fault.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.content-type",
        "A body of the wrong content type is `bad_request`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.unknown-field",
        "A field that a request does not have is `bad_request` naming it.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.wrong-type",
        "A value of the wrong type is `bad_request`, and so is `true` where a number is meant.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.non-finite",
        "A number that is not finite is `bad_request`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.coerced",
        "A number written as a string is read as that number.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.coerced-boolean",
        'A boolean written as a word, `"true"`, `"on"`, `"yes"` or their opposites, or as 1 or 0, '
        "is read as that boolean.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.too-long",
        "Text over `maxCharacters` is `bad_request`, from the server and from the worker.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.unspeakable",
        "Text without a letter, a digit or a claimed cue is `bad_request` naming the field, "
        "from every entry.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.delivery-word",
        "A delivery outside the vocabulary is `bad_request`, from the server and from the worker; "
        "the server drops only words that have a meaning.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.delivery-unclaimed",
        "A worker asked directly for a delivery that its variant does not claim answers "
        "`unsupported`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.dial-range",
        "A dial out of its range is `bad_request`; the limits themselves are allowed.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.format-open",
        "`format` is any string: one that the worker does not list is `unsupported`, never "
        "malformed.",
        is_worker_rule=True,
    ),
    Rule(
        "d.codes.variant",
        "A variant that the engine does not list is `unsupported`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.text.default-limit",
        "`maxCharacters` is 4096 where a variant declares none.",
    ),
    Rule(
        "d.text.counting",
        "`maxCharacters` counts code points after unclaimed cues are taken out, claimed cues as "
        "written.",
    ),
    Rule(
        "d.cues.matching",
        "A cue is recognised whatever its case and inner white space.",
        is_worker_rule=True,
    ),
    Rule(
        "d.cues.other-brackets",
        "Bracketed text that is no cue is text.",
    ),
    Rule(
        "d.cues.worker-strips",
        "The SDK takes unclaimed cues out too, for whoever talks to a worker directly.",
        is_worker_rule=True,
    ),
    Rule(
        "d.variant.default",
        "The first key of `variants` is the engine's default.",
        is_worker_rule=True,
    ),
    Rule(
        "d.variant.forwarded",
        "The server settles the effective variant once, on arrival, and always names it to the "
        "worker.",
    ),
    Rule(
        "d.variant.switch",
        "A switch of variants waits for the requests in progress, then unloads and loads in the "
        "same process.",
    ),
    Rule(
        "d.defaults.format",
        "`format` absent means `wav`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.defaults.stream",
        "`stream` absent means false.",
        is_worker_rule=True,
    ),
    Rule(
        "d.limits.head",
        "A request head over 64 KiB is refused as `bad_request`, counted as it arrives.",
    ),
    Rule(
        "d.limits.body",
        "A JSON body over 1 MiB is refused as `bad_request`, counted as it arrives.",
        is_worker_rule=True,
    ),
    Rule(
        "d.limits.slow-head",
        "A request whose head is not whole within 10 seconds is dropped.",
    ),
    Rule(
        "d.limits.silent-body",
        "A request whose body is silent for 30 seconds is dropped.",
    ),
    Rule(
        "d.limits.refusal-read",
        "A client refused in the middle of its upload can read the refusal.",
    ),
    Rule(
        "d.headers.host",
        "A request of HTTP/1.1 without a `Host` header, or with two, is `bad_request`.",
    ),
    Rule(
        "d.headers.proxy",
        "A forwarded address in a header never makes a client local.",
    ),
    Rule(
        "d.headers.request-trailers",
        "Trailers of a request do not become headers of it.",
    ),
)
