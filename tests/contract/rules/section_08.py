"""The worker SDK: what an adapter's author is spared (section 8)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "8.author.one-class",
        "An adapter is one class and one call to serve it; the printed example of the "
        "documentation runs as printed.",
    ),
    Rule(
        "8.serve.stdout-captured",
        "What an adapter prints to standard output becomes log lines.",
    ),
    Rule(
        "8.serve.routes",
        "The SDK serves every worker route; an adapter defines none.",
    ),
    Rule(
        "8.capabilities.assembled",
        "The SDK makes the capability document from the variants, the native format, the "
        "licence and the device that it detects.",
    ),
    Rule(
        "8.encoding.all-formats",
        "The engine yields its own PCM; the SDK makes WAV, MP3, Opus, FLAC or raw PCM of it.",
    ),
    Rule(
        "8.errors.mapped",
        "What an adapter raises becomes an error of the taxonomy, with `retryable` set by its "
        "kind.",
    ),
    Rule(
        "8.checks.max-characters",
        "Text over `maxCharacters` is refused before the engine sees it.",
        is_worker_rule=True,
    ),
    Rule(
        "8.checks.params",
        "Dials that are not declared, or out of their range, are refused before the engine sees "
        "them.",
        is_worker_rule=True,
    ),
    Rule(
        "8.checks.undeclared",
        "An adapter never receives a request for something that it did not declare.",
    ),
    Rule(
        "8.serial.default",
        "An engine speaks one utterance at a time unless it says otherwise, and the rest wait.",
        is_worker_rule=True,
    ),
    Rule(
        "8.serial.concurrency",
        "An engine that declares a concurrency above one is given that many utterances at once.",
    ),
    Rule(
        "8.abandoned.awaited",
        "A synthesis whose client has left is waited for before the worker loads, unloads or "
        "starts another.",
    ),
    Rule(
        "8.fetch.optional",
        "An adapter without `fetch` answers `POST /fetch` with `unsupported`.",
        is_worker_rule=True,
    ),
    Rule(
        "8.fetch.downloads",
        "`POST /fetch` gets a variant's weights without putting them on the device.",
        is_worker_rule=True,
    ),
    Rule(
        "8.dialogue.derived",
        "Whether a variant declares dialogue follows from whether the adapter wrote it, and an "
        "adapter without it answers `unsupported`.",
    ),
    Rule(
        "8.dialogue.checked",
        "Speakers, voices, the budget and all that speaking checks are checked before an "
        "adapter's dialogue is called.",
    ),
    Rule(
        "8.split.order",
        "Long text is split at sentences, then clauses, then words, and the pieces are packed "
        "back up to the segment size.",
    ),
    Rule(
        "8.split.long-word",
        "A single word longer than the segment size stays whole.",
    ),
    Rule(
        "8.split.own-size",
        "The segment size is the adapter's; one that declares none receives the whole text.",
    ),
    Rule(
        "8.split.joint",
        "The adapter says what stands between two segments: silence, or nothing.",
    ),
    Rule(
        "8.split.declared",
        "The capability document says whether text is split and how much text one generation gets.",
        is_worker_rule=True,
    ),
    Rule(
        "8.torch.none",
        "The SDK needs no machine-learning framework, so that an engine without one installs "
        "alone.",
    ),
    Rule(
        "8.device.cpu",
        "An engine on the CPU says `cpu` and is served like any other.",
    ),
    Rule(
        "8.claims.accepted",
        "Everything that a variant claims, each cue, delivery, dial, language and format, is "
        "accepted when asked for.",
        is_worker_rule=True,
    ),
)
