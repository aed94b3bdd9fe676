"""A child that an adapter forks never comes back as a second worker."""

import pytest

from .worker import ADAPTERS, ask, running

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("how", "status"), [("raises", 1), ("exits", 3), ("returns", 0), ("yields", 0)]
)
async def test_a_child_ends_where_it_would_come_back(how: str, status: int) -> None:
    async with running(str(ADAPTERS / "forking.py"), engine="forking") as worker:
        async with worker.client as client:
            answer = await ask(client, "POST", "/speak", {"text": how, "format": "pcm"})
            assert (answer[0], len(answer[1])) == (200, 4800 * (1 + status))
        worker.signal()
        assert await worker.ended() == 0
        assert worker.left_behind() == []
        assert worker.log
