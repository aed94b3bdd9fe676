"""The one protocol that clients, the server and the workers share (section 1)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "1.protocol.shared",
        "A worker answers the public API's own routes for one engine, with no engine in the "
        "path or the body; there is no second protocol.",
        is_worker_rule=True,
    ),
    Rule(
        "1.protocol.by-hand",
        "A worker runs and speaks on its own, started by hand and driven with curl; nothing of "
        "the server has to be there.",
        is_worker_rule=True,
    ),
    Rule(
        "1.routes.worker",
        "A worker serves `GET /capabilities`, `GET /voices`, `GET /health`, `POST /load`, `POST "
        "/unload`, `POST /terminate`, `POST /fetch`, `POST /speak` and `POST /dialogue`.",
        is_worker_rule=True,
    ),
    Rule(
        "1.routes.server",
        "The server serves `GET /engines`, `GET /engines/{id}/capabilities`, `GET "
        "/engines/{id}/voices`, `POST /speak` and `GET /health`.",
    ),
    Rule(
        "1.routes.engines",
        "`GET /engines` is the server's own answer, put together from every engine this box has.",
    ),
    Rule(
        "1.routes.worker-verbs-hidden",
        "`/load`, `/terminate`, `/fetch` and the other verbs that only a worker has are not "
        "public routes: a client never learns that workers exist.",
    ),
    Rule(
        "1.remote.url",
        "A worker on another machine is a URL, served by the same code as a local one.",
    ),
    Rule(
        "1.server.no-engine-code",
        "The server process imports no engine, no audio library and no machine-learning framework.",
    ),
    Rule(
        "1.transport.unix",
        "A worker speaks HTTP over a Unix domain socket unless it is told otherwise.",
        is_worker_rule=True,
    ),
    Rule(
        "1.transport.tcp",
        "Told to listen on TCP, a worker speaks the same protocol there.",
        is_worker_rule=True,
    ),
    Rule(
        "1.transport.chunked",
        "Streamed audio is the HTTP body in chunked transfer encoding, with no framing of our "
        "own inside it.",
        is_worker_rule=True,
    ),
)
