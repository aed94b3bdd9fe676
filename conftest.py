"""What every test of the repository shares."""

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Async tests run on asyncio with uvloop, as the server and the workers do."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture
def short_path() -> Generator[Path]:
    """A folder for sockets. Their paths are a hundred bytes at most; `tmp_path` can be longer."""
    with tempfile.TemporaryDirectory(prefix="rh") as folder:
        yield Path(folder)
