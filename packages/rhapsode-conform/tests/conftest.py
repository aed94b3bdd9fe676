"""What the tests of this package share."""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
import soundfile  # pyright: ignore[reportMissingTypeStubs]
from rhapsode_conform import CHECKS, Check, Options, Report, Target, check_worker

Conform = Callable[..., Awaitable[Report]]


TESTS = str(Path(__file__).parent)
PACKAGES = str(Path(soundfile.__file__).parent)


@pytest.fixture
def raw_command() -> tuple[str, ...]:
    """Starts the raw worker; what stands behind it is the promise to break, `-` for none.

    On the standard library alone (-S, -E), so that it starts in a tenth of a second; an encoder
    of its formats lies behind that.
    """
    paths = f"sys.path.insert(0, {TESTS!r}); sys.path.append({PACKAGES!r})"
    program = f"import sys; {paths}; from dishonest.process import main"
    return (sys.executable, "-S", "-E", "-c", f"{program}; main()")


@pytest.fixture
def conform(tmp_path: Path) -> Conform:
    """Runs every check on the engine of that module, as `rhapsode-conform -- python -m` does."""

    async def run(module: str, *, seconds: float, checks: tuple[Check, ...] = CHECKS) -> Report:
        command = (sys.executable, "-m", module)
        # A folder of its own: a worker given the three variables alone keeps its voices in it.
        options = Options(environment={**os.environ, "HOME": str(tmp_path)})
        engine = module.removeprefix("rhapsode_engine_")
        with anyio.fail_after(seconds):
            return await check_worker(Target(command=command, engine=engine), options, checks)

    return run
