"""Voices: listing, naming and making them (section 7)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "7.voices.listed",
        "`GET /voices` lists the engine's voices, each with an id, a label and a spec.",
        is_worker_rule=True,
    ),
    Rule(
        "7.voices.distinct",
        "`voice` chooses who speaks: the voices of an engine do not all sound the same.",
        is_worker_rule=True,
    ),
    Rule(
        "7.voices.proxied",
        "`GET /engines/{id}/voices` is the worker's own list; the server keeps no register of "
        "voices.",
    ),
    Rule(
        "7.spec.opaque",
        "A voice's spec is opaque and changes whenever its rendering would.",
    ),
    Rule(
        "7.preview.rewritten",
        "The server rewrites a voice's preview address to its own path and edits nothing else.",
    ),
    Rule(
        "7.id.grammar",
        "A voice id is 1 to 64 letters, digits, `-` and `_`, beginning with a letter or a "
        "digit; anything else is `bad_request` before an adapter sees it.",
        is_worker_rule=True,
    ),
    Rule(
        "7.unknown.no-substitute",
        "A voice that the engine does not have is refused and never replaced by another.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.route",
        "`POST /engines/{id}/voices` makes a voice from a form and answers it as the list would "
        "show it; `DELETE` on a voice removes it.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.label",
        "A voice that is made is listed under the label that it was given.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.heard",
        "A voice is made of its reference: another reference makes another voice.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.transcript",
        "The transcript is optional; an engine that needs one refuses a create without it as "
        "`bad_request` naming the field, and one that does not read it ignores it.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.replaces",
        "Creating an id that exists replaces that voice and changes its spec.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.one-source",
        "A create carries either a reference or a blend; both or neither is `bad_request`.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.reference",
        "A reference of a type that the engine does not list is `unsupported`; one of a listed "
        "type with the wrong contents is `bad_request`.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.never-unpickled",
        "An uploaded reference is read as data; nothing in it is ever run.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.impossible",
        "An engine that makes no voices, or none in the way asked for, answers `unsupported`.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.loads-nothing",
        "Creating a voice loads no model and evicts none.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.kept",
        "A voice that is made is kept: it is listed as it was after the worker has started again.",
        is_worker_rule=True,
    ),
    Rule(
        "7.create.upload",
        "The server streams an upload to the worker, keeps no copy and refuses a body over 25 "
        "MB as `bad_request`.",
    ),
    Rule(
        "7.create.guarded",
        "Creating and deleting are management routes; listing and hearing a preview are open to "
        "all.",
    ),
    Rule(
        "7.blend.recipe",
        "A blend is a sum of listed voices with positive weights, 1 where none is given, scaled "
        "to sum to 1; a name not listed is `unknown_voice`.",
        is_worker_rule=True,
    ),
    Rule(
        "7.blend.weights",
        "A blend has as much of each voice as its weight says: other weights make another voice.",
        is_worker_rule=True,
    ),
    Rule(
        "7.blend.fixed",
        "A blend is worked out when it is made: later changes to its parts do not change it.",
        is_worker_rule=True,
    ),
)
