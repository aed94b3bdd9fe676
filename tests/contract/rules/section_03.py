"""The process and the model in it are held and given up apart (section 3)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "3.start.loads-nothing",
        "A worker starts with no model loaded.",
        is_worker_rule=True,
    ),
    Rule(
        "3.health.both",
        "`GET /health` tells the state of the process apart from the state of the model, with "
        "the device, and with the variant where one is loaded.",
        is_worker_rule=True,
    ),
    Rule(
        "3.health.server",
        "The server's `GET /health` tells the state of the process and of the model of every "
        "engine, with its licences and its restarts.",
    ),
    Rule(
        "3.health.vram",
        "`vramBytes` is what the device holds in use, by whomever; it is absent where nothing "
        "can measure it.",
        is_worker_rule=True,
    ),
    Rule(
        "3.health.model-bytes",
        "`modelBytes` is what the loaded model took of the device, measured across its load and "
        "reported for as long as it stays loaded.",
    ),
    Rule(
        "3.health.model-bytes-honest",
        "`modelBytes` is left out where nothing could be measured; it is never zero or negative.",
        is_worker_rule=True,
    ),
    Rule(
        "3.health.memory-override",
        "An adapter that knows what its model holds says so, and its figure is the one reported.",
    ),
    Rule(
        "3.speak.loads",
        "`POST /speak` loads the model it needs when that is not resident, and then speaks; no "
        "client has to load first.",
        is_worker_rule=True,
    ),
    Rule(
        "3.load.retry-once",
        "A load that fails is followed by an unload and by exactly one more load.",
    ),
    Rule(
        "3.unload.keeps-process",
        "`POST /unload` frees the model and keeps the process, which can load again.",
        is_worker_rule=True,
    ),
    Rule(
        "3.unload.idempotent",
        "`POST /unload` with nothing loaded succeeds and changes nothing.",
        is_worker_rule=True,
    ),
    Rule(
        "3.policy.worker-obeys",
        "A worker never unloads or ends by itself for being idle: residency is the server's "
        "decision.",
        is_worker_rule=True,
    ),
    Rule(
        "3.policy.max-resident",
        "At most `maxResidentModels` models are resident, by default one.",
    ),
    Rule(
        "3.policy.least-recent",
        "When a request needs a model and the budget is full, the model used longest ago gives "
        "way.",
    ),
    Rule(
        "3.policy.live-settings",
        "The residency policy can be changed while the server runs.",
    ),
    Rule(
        "3.keep-alive.deadline",
        "A model with nothing left to do goes after `keepAliveSeconds`, by default 300; 0 frees "
        "it as its last request ends, and -1 keeps it until something needs the room.",
    ),
    Rule(
        "3.keep-alive.terminates",
        "A keep-alive that runs out ends the process; an unload would leave part of the memory "
        "held.",
    ),
    Rule(
        "3.keep-alive.per-engine",
        "`keepAliveSeconds` can be set for one engine as well as for the server.",
    ),
    Rule(
        "3.keep-alive.request",
        "A speak or a dialogue request may carry `keepAliveSeconds` for the model that it loads.",
    ),
    Rule(
        "3.keep-alive.precedence",
        "The request's keep-alive wins over the engine's, and the engine's over the server's.",
    ),
    Rule(
        "3.keep-alive.last-wins",
        "Of several requests on one model the last to take its lease decides the keep-alive; "
        "one that names none puts the engine's own back.",
    ),
    Rule(
        "3.keep-alive.no-reservation",
        "A keep-alive of -1 does not protect a model from eviction when another engine needs "
        "the room.",
    ),
    Rule(
        "3.residency.listing",
        "`GET /residency` lists the resident models with their leases, last use, deadline, the "
        "keep-alive in force and the size.",
    ),
    Rule(
        "3.residency.absent-fields",
        "`expiresAt` is absent while a model speaks and where it never expires; `sizeBytes` is "
        "absent where the worker could not measure it.",
    ),
    Rule(
        "3.residency.starts-nothing",
        "`GET /residency` reads the server's own state: it starts no process, loads nothing and "
        "waits for no worker.",
    ),
    Rule(
        "3.unload-route.modes",
        "`POST /engines/{id}/unload` ends the process by default, even one with no model; "
        "`mode=unload` keeps the process.",
    ),
    Rule(
        "3.unload-route.answer",
        "`POST /engines/{id}/unload` can be repeated and answers 200 with the engine's summary.",
    ),
    Rule(
        "3.unload-route.busy",
        "`POST /engines/{id}/unload` is refused with 409 while the engine speaks: no stream in "
        "progress is cut.",
    ),
    Rule(
        "3.unload-route.guarded",
        "`POST /engines/{id}/unload` is a management route and is guarded like the others.",
    ),
)
