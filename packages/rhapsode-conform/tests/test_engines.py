"""The engines of this repository conform."""

from collections.abc import Awaitable, Callable

import pytest
from rhapsode_conform import Report, Verdict

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

Conform = Callable[..., Awaitable[Report]]


@pytest.mark.contract(
    "1.protocol.by-hand",
    "1.protocol.shared",
    "1.routes.worker",
    "1.transport.tcp",
    "1.transport.unix",
    "2.handshake.bound",
    "2.handshake.fields",
    "2.handshake.one-line",
    "2.handshake.stdout-reserved",
    "2.logs.json-lines",
    "2.logs.nothing-raw",
    "2.spawn.listen-tcp",
    "2.spawn.listen-unix",
    "2.spawn.three-suffice",
    "2.stop.exits-zero",
    "2.stop.finishes",
    "2.stop.refuses",
    "2.stop.terminate",
    "3.start.loads-nothing",
    "4.cloning.references",
    "4.variants.languages",
    "4.variants.named",
    "6.dialogue.every-turn",
    "6.params.heard",
    "6.speak.whole",
    "7.blend.weights",
    "7.create.heard",
    "7.voices.distinct",
    "8.claims.accepted",
    "9.answer.highest",
    "9.answer.reported",
    "9.refuse.too-low",
)
async def test_tone_conforms_whole(conform: Conform) -> None:
    report = await conform("rhapsode_engine_tone", seconds=100)
    assert report.failed == ()
    unshown = {
        result.check.family
        for result in report.results
        if result.outcome.verdict is not Verdict.PASSED
    }
    assert unshown <= {"creating", "dialogue", "fetch", "languages", "voices", "concurrency"}


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_hibari_conforms_whole(conform: Conform) -> None:
    report = await conform("rhapsode_engine_hibari", seconds=500)
    assert report.failed == ()
