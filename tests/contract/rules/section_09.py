"""Versions: how the server and its workers agree on one (section 9)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "9.contract.everywhere",
        "The contract version is an integer in the handshake, in the capabilities and in the "
        "public API.",
    ),
    Rule(
        "9.offer.highest",
        "The server offers the highest contract it speaks in `RHAPSODE_WORKER_CONTRACT`; it is "
        "a ceiling and no demand.",
    ),
    Rule(
        "9.answer.highest",
        "A worker answers with the highest contract that it supports and that is not above the "
        "offer.",
        is_worker_rule=True,
    ),
    Rule(
        "9.answer.reported",
        "The handshake and the capabilities report that same number.",
        is_worker_rule=True,
    ),
    Rule(
        "9.refuse.too-low",
        "Offered less than everything it supports, a worker exits non-zero before any "
        "handshake, naming both numbers on standard error.",
        is_worker_rule=True,
    ),
    Rule(
        "9.refuse.too-high",
        "The server refuses a worker that reports a contract above its own, with a message "
        "naming both.",
    ),
    Rule(
        "9.additive.reader",
        "A reader ignores fields it does not know and does not fail on an unknown cue or dial "
        "name.",
    ),
    Rule(
        "9.additive.shapes",
        "Within a contract version fields and values are only added, never taken away or changed.",
    ),
    Rule(
        "9.version.health",
        "`GET /health` of the server says the contract and, for display, the server's own version.",
    ),
)
