"""Time in these tests is virtual."""

from typing import Any

import pytest

from .virtual_clock import VirtualClockLoop


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """Async tests run on a loop whose clock jumps."""
    return "asyncio", {"loop_factory": VirtualClockLoop}
