"""Every variant conforms: `int8` with its real weights, the others on small random graphs."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from rhapsode_conform import Options, Report, Target, check_worker

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(900)]

TESTS = Path(__file__).parent
WEIGHTS = TESTS.parents[2] / ".cache" / "kokoro"

SMALL = f"import sys; sys.path.insert(0, {str(TESTS)!r}); from small_model.release import main"


async def conform(home: Path, weights: Path, variant: str, *words: str) -> Report:
    environment = {**os.environ, "HOME": str(home), "RHAPSODE_WEIGHTS_DIR": str(weights)}
    target = Target(command=(sys.executable, *words), engine="kokoro")
    with anyio.fail_after(800):
        return await check_worker(target, Options(environment=environment, variant=variant))


@pytest.mark.soak
async def test_the_real_int8_conforms_whole(tmp_path: Path) -> None:
    assert WEIGHTS.exists(), "script/test fetches the weights"
    report = await conform(tmp_path, WEIGHTS, "int8", "-m", "rhapsode_engine_kokoro")
    assert report.failed == ()


@pytest.mark.parametrize(
    "variant",
    [pytest.param("fp16", marks=pytest.mark.slow), pytest.param("fp32", marks=pytest.mark.soak)],
)
async def test_the_other_precisions_conform_on_small_graphs(tmp_path: Path, variant: str) -> None:
    weights = tmp_path / "weights"
    report = await conform(tmp_path, weights, variant, "-c", f"{SMALL}; main()")
    assert report.failed == ()
