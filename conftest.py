"""What every test of the repository shares."""

import gc
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test depends on the speed of a machine, and the first text that is drawn waits for tables.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# Whatever the environment says: without their bytecode every test module, and every module of the
# hundreds of processes that the tests start, is compiled again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Has the files with slow tests run first: the last one would keep a single core busy."""
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Takes what thousands of tests are made of out of sight of the garbage collector.

    A model that is unloaded is a whole collection, which would walk through all of it.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Async tests run on asyncio with uvloop, as the server and the workers do."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture
def short_path() -> Generator[Path]:
    """A folder for sockets. Their paths are a hundred bytes at most; `tmp_path` can be longer."""
    with tempfile.TemporaryDirectory(prefix="rh") as folder:
        yield Path(folder)
