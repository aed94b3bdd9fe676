"""The words for what a speaker does beside speaking (section 5)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "5.cues.closed-set",
        "Cues come from one closed set: laugh, chuckle, sigh, gasp, cough, clear throat, sniff "
        "and groan; an engine claims no other.",
        is_worker_rule=True,
    ),
    Rule(
        "5.cues.in-text",
        "A cue stands in the text at the place where it happens, in square brackets.",
    ),
    Rule(
        "5.cues.claimed-subset",
        "An engine claims the cues that it performs, which may be some of the set or none.",
        is_worker_rule=True,
    ),
    Rule(
        "5.cues.translated",
        "A claimed cue reaches the model as the engine's own tag for it.",
    ),
    Rule(
        "5.cues.foreign-tags",
        "The engine's own tag syntax is removed from the text before cues are translated: the "
        "vocabulary is the only way in.",
    ),
    Rule(
        "5.cues.stripped",
        "The server takes every cue that the effective variant does not claim out of the text "
        "before the worker sees it.",
    ),
    Rule(
        "5.cues.kept",
        "A claimed cue reaches the worker in its place.",
    ),
    Rule(
        "5.cues.gap",
        "Removing a cue also closes the space that it leaves behind.",
    ),
    Rule(
        "5.deliveries.closed-set",
        "A delivery is `hushed` or `frantic`; an engine claims no other.",
        is_worker_rule=True,
    ),
    Rule(
        "5.deliveries.ordinary",
        "A request without a delivery is read in the voice's ordinary way, and no word asks for "
        "that.",
    ),
    Rule(
        "5.deliveries.translated",
        "The adapter turns a delivery into its engine's own numbers; the client sends the word "
        "alone.",
        is_worker_rule=True,
    ),
    Rule(
        "5.deliveries.relative",
        "A delivery is relative to the voice: one that is intense at rest stays more intense "
        "than others when hushed.",
        awaits="engines with deliveries",
    ),
)
