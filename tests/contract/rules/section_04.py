"""What an engine can do, and how it says so (section 4)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "4.document.parts",
        "`GET /capabilities` says the contract version, the engine, its licences, the device, "
        "what is current, every variant and the audio formats.",
        is_worker_rule=True,
    ),
    Rule(
        "4.engine.identity",
        "The document names the engine's id, its display name, the adapter's version and, where "
        "there is one, the upstream's version.",
        is_worker_rule=True,
    ),
    Rule(
        "4.license.code-and-weights",
        "The licence of the code and that of the weights are declared apart, with whether the "
        "weights may be used commercially.",
        is_worker_rule=True,
    ),
    Rule(
        "4.license.most-restrictive",
        "The code's licence is the most restrictive among all that the worker process runs, and "
        "the notes name the dependency responsible.",
    ),
    Rule(
        "4.license.listed",
        "`GET /engines` shows both licences of each engine, as far as they are known.",
    ),
    Rule(
        "4.license.catalog",
        "A catalog entry carries both licences, so that they are seen before an install.",
    ),
    Rule(
        "4.device.named",
        "The document names the device's type and its name, with its total memory where that is "
        "known.",
        is_worker_rule=True,
    ),
    Rule(
        "4.variants.always",
        "`variants` is in the document whether or not a model is loaded, and an engine with one "
        "build lists that one.",
        is_worker_rule=True,
    ),
    Rule(
        "4.variants.loadable",
        "`variants` lists only what this worker, on this box, can load.",
        is_worker_rule=True,
    ),
    Rule(
        "4.variants.named",
        "The name of a variant is never empty.",
        is_worker_rule=True,
    ),
    Rule(
        "4.variants.languages",
        "A variant that lists its languages lists one at least, each once; one that does not "
        "know them leaves the field out.",
        is_worker_rule=True,
    ),
    Rule(
        "4.variants.own-abilities",
        "Each variant declares its own cues, deliveries and dials, a dial with its least, "
        "greatest and default value.",
        is_worker_rule=True,
    ),
    Rule(
        "4.current.absent",
        "`current` is absent while no model is resident.",
        is_worker_rule=True,
    ),
    Rule(
        "4.current.resident",
        "`current` names the resident variant and repeats what that variant declares.",
        is_worker_rule=True,
    ),
    Rule(
        "4.current.follows-switch",
        "After a switch of variants `current` describes the new one.",
        is_worker_rule=True,
    ),
    Rule(
        "4.current.limits",
        "`current` always says `maxCharacters` and how long text is split.",
        is_worker_rule=True,
    ),
    Rule(
        "4.current.native-format",
        "`current` says the encoding, sample rate and channels that the engine makes, and "
        "whether it streams.",
        is_worker_rule=True,
    ),
    Rule(
        "4.effective.request-first",
        "The effective variant is the one that the request names, whatever is loaded.",
        is_worker_rule=True,
    ),
    Rule(
        "4.effective.resident-next",
        "Where the request names no variant, the resident one is effective.",
    ),
    Rule(
        "4.effective.default-last",
        "Where the request names none and nothing is loaded, the engine's default variant is "
        "effective.",
    ),
    Rule(
        "4.effective.reads-variants",
        "The server decides by what `variants` says of the effective variant and never by "
        "`current`, so that a request may name a variant that is not loaded.",
    ),
    Rule(
        "4.cloning.per-variant",
        "Each variant says whether it clones voices, and says so with no model loaded.",
        is_worker_rule=True,
    ),
    Rule(
        "4.cloning.references",
        "What a variant says of references can be relied on: `referenceSeconds` is the least, "
        "then the most; `formats` are endings in lower case, without the dot.",
        is_worker_rule=True,
    ),
    Rule(
        "4.cloning.absent",
        "Where a variant does not say whether it clones, a client falls back to `current`, then "
        "offers it and lets the worker refuse.",
        awaits="voice creation",
    ),
    Rule(
        "4.blending.absent",
        "A variant blends voices only if it says so; absent means that it does not.",
        is_worker_rule=True,
    ),
    Rule(
        "4.dialogue.declared",
        "A variant that performs dialogue declares it with its largest number of speakers; any "
        "other leaves the field out.",
        is_worker_rule=True,
    ),
)
