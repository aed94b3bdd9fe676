"""The worker conforms: `int8` with its real weights, `fp16` on a small random graph."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from rhapsode_conform import Options, Report, Target, check_worker

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(1_800)]

WEIGHTS = Path(__file__).parents[3] / ".cache" / "kokoro"

SMALL = """
import os, sys
sys.path.insert(0, {tests!r})
from rhapsode_engine_kokoro_espeak import KokoroEspeakEngine
from rhapsode_worker import serve
from small_model.release import small_release
serve(KokoroEspeakEngine(os.environ, small_release()))
"""


async def conform(home: Path, weights: Path, variant: str, *words: str) -> Report:
    environment = {**os.environ, "HOME": str(home), "RHAPSODE_WEIGHTS_DIR": str(weights)}
    target = Target(command=(sys.executable, *words), engine="kokoro-espeak")
    with anyio.fail_after(1_700):
        return await check_worker(target, Options(environment=environment, variant=variant))


@pytest.mark.soak
async def test_the_real_int8_conforms_whole(tmp_path: Path) -> None:
    assert WEIGHTS.exists(), "script/test fetches the weights"
    report = await conform(tmp_path, WEIGHTS, "int8", "-m", "rhapsode_engine_kokoro_espeak")
    assert report.failed == ()


@pytest.mark.soak
async def test_half_precision_conforms_on_a_small_graph(tmp_path: Path, kokoro_tests: str) -> None:
    program = SMALL.format(tests=kokoro_tests)
    report = await conform(tmp_path, tmp_path / "weights", "fp16", "-c", program)
    assert report.failed == ()
