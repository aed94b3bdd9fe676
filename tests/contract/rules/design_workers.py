"""Decisions on workers: queues, starts, sockets, networks (design)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "d.queue.order",
        "Utterances on one worker are spoken in the order in which they came.",
    ),
    Rule(
        "d.queue.limit",
        "At most 32 requests wait for a worker; the next one is `overloaded`.",
        is_worker_rule=True,
    ),
    Rule(
        "d.queue.slow-reader",
        "A client that reads slowly does not hold the engine from the next one.",
    ),
    Rule(
        "d.queue.hang-up",
        "A client that leaves frees the engine as soon as its model can be stopped, through the "
        "server as well.",
        is_worker_rule=True,
    ),
    Rule(
        "d.queue.responsive",
        "Health and listings answer within milliseconds while a model loads, speaks, or audio "
        "is encoded.",
        is_worker_rule=True,
    ),
    Rule(
        "d.drain.reads",
        "While a worker drains its GET routes answer and everything else is refused.",
        is_worker_rule=True,
    ),
    Rule(
        "d.handshake.noise",
        "Lines on standard output before the handshake are logged and do no harm.",
    ),
    Rule(
        "d.handshake.mismatch",
        "A handshake that names another engine or another address is a failed start.",
    ),
    Rule(
        "d.handshake.exited",
        "A worker that exits with a status before its handshake is `internal`; the last lines "
        "of its standard error are in the message.",
    ),
    Rule(
        "d.handshake.killed",
        "A worker that is killed before its handshake is `model_unavailable`.",
    ),
    Rule(
        "d.life.ends-with-server",
        "A local worker ends when its server does, however that ended; one started by hand "
        "lives on.",
        is_worker_rule=True,
    ),
    Rule(
        "d.life.environment",
        "A worker's environment is built from a list and not inherited.",
    ),
    Rule(
        "d.sockets.private",
        "Sockets lie in a folder of mode 0700 and have mode 0600.",
    ),
    Rule(
        "d.network.token",
        "A worker on TCP beyond loopback demands its bearer token on every route and answers "
        "`forbidden` without it.",
    ),
    Rule(
        "d.network.no-token",
        "Such a worker refuses to start without a token, unless it is told that the network is "
        "trusted.",
    ),
    Rule(
        "d.crash.failed",
        "After too many restarts an engine is `failed` and its requests are `internal` with the "
        "last error, until a later start succeeds.",
    ),
)
