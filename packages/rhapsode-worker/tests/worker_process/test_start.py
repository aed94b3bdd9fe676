"""What a worker does not wait for at its start: libraries that only some requests need."""

import re

import pytest

from .worker import TONE, running

pytestmark = pytest.mark.anyio

LATER = {
    # The rules for long text: their expressions take a tenth of a start to compile.
    "rhapsode_worker.segmenting.long_text",
    "rhapsode_worker.segmenting.atoms",
    "rhapsode_worker.segmenting.cutting",
    "sentencex",
    # The encoder child's.
    "rhapsode_worker.encoding.child",
    "_soundfile",
    "lameenc",
    "soxr",
    "numpy",
}

LAST = "rhapsode_engine_tone.sabotage\n"
"""The last module that the program of the tone engine names."""


async def test_a_handshake_waits_for_nothing_that_only_some_requests_need() -> None:
    async with running("-X", "importtime", *TONE) as worker:
        await worker.says(LAST)  # two pipes: the handshake may be read before what came earlier
        imported = modules(worker.stderr.decode())
    assert "rhapsode_worker.segmenting" in imported
    assert imported & LATER == set()


def modules(log: str) -> set[str]:
    """Returns the modules that a process under `-X importtime` says it has imported."""
    return set(re.findall(r"^import time:.*\| +(\S+)$", log, re.MULTILINE))
