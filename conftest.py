"""What every test of the repository shares."""

import pytest


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Async tests run on asyncio with uvloop, as the server and the workers do."""
    return "asyncio", {"use_uvloop": True}
