"""One pool of encoders for all of these tests: a child takes longer to start than a test to run."""

from collections.abc import AsyncIterator

import anyio
import pytest
from rhapsode_worker.encoding.pool import EncoderPool


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """As everywhere, for fixtures that live as long as a module."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="module")
async def encoders() -> AsyncIterator[EncoderPool]:
    """A pool with its first child warm."""
    with anyio.fail_after(600):
        async with EncoderPool() as pool:
            yield pool
