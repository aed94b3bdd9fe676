"""The checks, one module a family. Importing this package registers all of them."""

from typing import Final

from rhapsode_conform.check import REGISTRY, Check
from rhapsode_conform.checks import (
    capabilities,
    concurrency,
    creating,
    cues_and_deliveries,
    dialogue,
    dials,
    ending,
    errors,
    fetch,
    formats,
    handshake,
    health,
    languages,
    long_texts,
    made,
    model,
    negotiation,
    record,
    routes,
    speaking,
    voices,
)

FAMILIES: Final = tuple(
    module.__name__.rpartition(".")[2]
    for module in (
        handshake,
        health,
        capabilities,
        routes,
        speaking,
        long_texts,
        formats,
        errors,
        cues_and_deliveries,
        dials,
        languages,
        voices,
        creating,
        made,
        dialogue,
        fetch,
        model,
        concurrency,
        ending,
        negotiation,
        record,
    )
)
"""The families in the order in which they are run; the last looks at every answer before it."""

CHECKS: Final[tuple[Check, ...]] = tuple(
    sorted(REGISTRY.values(), key=lambda check: FAMILIES.index(check.family))
)
"""All of them, family by family."""
