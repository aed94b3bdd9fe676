"""The engines of this repository conform."""

from collections.abc import Awaitable, Callable

import pytest
from rhapsode_conform import Report, Verdict

pytestmark = pytest.mark.anyio

Conform = Callable[..., Awaitable[Report]]


async def test_tone_conforms_whole(conform: Conform) -> None:
    report = await conform("rhapsode_engine_tone", seconds=100)
    assert report.failed == ()
    unshown = {
        result.check.family
        for result in report.results
        if result.outcome.verdict is not Verdict.PASSED
    }
    assert unshown <= {"creating", "dialogue", "fetch", "speaking", "voices", "concurrency"}


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_hibari_conforms_whole(conform: Conform) -> None:
    report = await conform("rhapsode_engine_hibari", seconds=500)
    assert report.failed == ()
