"""Who is let in to a worker on a network."""

from typing import Any

import pytest
from rhapsode_worker.doorkeeper import Doorkeeper
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

TOKEN = "s3cret"


async def status_for(*authorization: bytes) -> int:
    """Returns the status of a request with these headers; its body is never there to be read."""
    statuses: list[int] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        pytest.fail("the body was read")

    async def send(message: Any) -> None:
        statuses.append(message.get("status", 0))

    headers = [(b"authorization", value) for value in authorization]
    await Doorkeeper(inside, TOKEN)({"type": "http", "headers": headers}, receive, send)
    return statuses[0]


@pytest.mark.contract("d.network.token")
@pytest.mark.parametrize("shown", [b"Bearer s3cret", b"bearer s3cret", b"BEARER  s3cret"])
async def test_who_shows_the_token_is_let_in(shown: bytes) -> None:
    assert await status_for(shown) == 200


@pytest.mark.parametrize(
    "shown",
    [
        (),
        (b"",),
        (b"Bearer",),
        (b"Bearer s3cre",),
        (b"Bearer s3crets",),
        (b"Bearer S3cret",),
        (b"Bearers3cret",),
        (b"Basic s3cret",),
        (b"s3cret",),
        (b"Bearer \xff",),
        (b"Bearer s3cret", b"Bearer s3cret"),
        (b"Bearer wrong", b"Bearer s3cret"),
    ],
)
@pytest.mark.contract("d.network.token")
async def test_everybody_else_is_forbidden_before_the_body(shown: tuple[bytes, ...]) -> None:
    assert await status_for(*shown) == 403
