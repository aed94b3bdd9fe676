"""A worker's life: how it starts, how it says so, how it stops (section 2)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "2.spawn.environment",
        "The server tells a worker all it has to know in `RHAPSODE_WORKER_LISTEN`, "
        "`RHAPSODE_WORKER_ENGINE` and `RHAPSODE_WORKER_CONTRACT`.",
    ),
    Rule(
        "2.spawn.three-suffice",
        "A worker given only those three variables starts and works.",
        is_worker_rule=True,
    ),
    Rule(
        "2.spawn.listen-unix",
        "`unix:/path` as the address makes the worker listen on that socket.",
        is_worker_rule=True,
    ),
    Rule(
        "2.spawn.listen-tcp",
        "`tcp:host:port` as the address makes the worker listen there; port 0 takes a free "
        "port, and the handshake names it.",
        is_worker_rule=True,
    ),
    Rule(
        "2.handshake.one-line",
        "A worker prints exactly one JSON line to standard output, once it is bound and ready.",
        is_worker_rule=True,
    ),
    Rule(
        "2.handshake.bound",
        "A connection made as soon as the handshake has been read is accepted: the line is not "
        "printed a moment before.",
        is_worker_rule=True,
    ),
    Rule(
        "2.handshake.fields",
        "The handshake says `ready`, the contract version, the engine's id and the address the "
        "worker listens on.",
        is_worker_rule=True,
    ),
    Rule(
        "2.handshake.stdout-reserved",
        "Nothing but the handshake ever reaches a worker's standard output, whatever an adapter "
        "or its libraries print.",
        is_worker_rule=True,
    ),
    Rule(
        "2.handshake.no-polling",
        "The server waits for the line or for the process's end, whichever comes first; it "
        "neither polls a socket nor waits out a timeout on a worker that has died.",
    ),
    Rule(
        "2.start.exit-is-failure",
        "A worker that ends before its handshake has failed to start, and whoever waits for it "
        "is told at once.",
    ),
    Rule(
        "2.start.stderr-is-message",
        "The error of a worker that failed to start is what it wrote to standard error.",
    ),
    Rule(
        "2.logs.json-lines",
        "A worker's log is JSON lines on standard error: a line that begins with `{` is an object "
        "with its `level` and its `message`, and where anything comes there is one at least.",
        is_worker_rule=True,
    ),
    Rule(
        "2.logs.nothing-raw",
        "Standard error holds nothing but the log, as far as a worker can see to it: what a "
        "native library writes to file descriptor 2 is told and forgiven.",
        is_worker_rule=True,
    ),
    Rule(
        "2.logs.forwarded",
        "The server writes every worker's log lines into its own log, with the engine's id.",
    ),
    Rule(
        "2.stop.refuses",
        "After SIGTERM a worker refuses new requests with 429 `overloaded`, retryable.",
        is_worker_rule=True,
    ),
    Rule(
        "2.stop.finishes",
        "After SIGTERM a worker finishes every request in flight, whole.",
        is_worker_rule=True,
    ),
    Rule(
        "2.stop.exits-zero",
        "A worker that has drained exits with status 0.",
        is_worker_rule=True,
    ),
    Rule(
        "2.stop.terminate",
        "`POST /terminate` makes a worker drain and end just as SIGTERM does.",
        is_worker_rule=True,
    ),
    Rule(
        "2.stop.kill-after-grace",
        "A local worker that has not ended within the grace period, which is the server's, is "
        "killed.",
    ),
    Rule(
        "2.stop.shutdown-signals",
        "A shutdown of the server signals its local workers at once, without asking them over "
        "HTTP first.",
    ),
    Rule(
        "2.stop.eviction-asks",
        "An eviction sends `POST /terminate` first and signals only where that did not land.",
    ),
    Rule(
        "2.stop.remote-kept",
        "A remote worker is sent `POST /terminate` and its connection is kept, since its own "
        "supervisor starts the replacement.",
    ),
    Rule(
        "2.crash.restarted",
        "An exit that the server did not ask for is a crash: the worker is restarted with "
        "backoff and the restart is counted against it.",
    ),
    Rule(
        "2.crash.asked-exit-is-none",
        "An exit after SIGTERM or `POST /terminate` is no crash, however late it comes.",
    ),
)
