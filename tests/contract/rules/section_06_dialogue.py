"""Dialogue: several speakers in one take (section 6)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "6.dialogue.route",
        "`POST /engines/{id}/dialogue` speaks a conversation in one pass, on a variant that "
        "declares dialogue.",
    ),
    Rule(
        "6.dialogue.undeclared",
        "A worker whose variant does not declare dialogue answers its route with `unsupported`.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.turns",
        "`turns` is required and holds at least one turn, each a speaker and a text.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.every-turn",
        "Every turn of a dialogue is spoken.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.cues",
        "Each turn's text has the cues that are not claimed taken out; the others are performed.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.speakers",
        "A speaker is a label that the request makes up; `voices` gives some or all of them a "
        "voice, and that is what they speak in.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.no-voice",
        "A speaker without a voice is read in one that the model picks, which a seed holds fixed.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.unknown-voice",
        "A voice that the engine does not have is `unknown_voice`.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.unused-label",
        "A label in `voices` that no turn uses is `bad_request`.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.too-many-speakers",
        "More distinct speakers than the variant declares is `unsupported`.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.budget",
        "`maxCharacters` bounds the sum of all turns: a dialogue is one take with one budget.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.no-delivery",
        "A dialogue has no delivery.",
        is_worker_rule=True,
    ),
    Rule(
        "6.dialogue.as-speak",
        "Variant, format, language, dials, seed and stream mean what they mean when speaking, "
        "and so do the floor, the abort, the duration and the errors.",
        is_worker_rule=True,
    ),
)
