"""A worker that listens beyond loopback wants its token on every route."""

import json

import anyio
import pytest
from rhapsode_http import Client, parse_address

from .worker import running

pytestmark = pytest.mark.anyio

OPEN = "tcp:0.0.0.0:0"
TOKEN = {"RHAPSODE_WORKER_TOKEN": "s3cret"}
SHOWN = [(b"authorization", b"Bearer s3cret")]


async def status_of(client: Client, method: str, target: str, *, is_known: bool) -> tuple[int, str]:
    """Returns status and error code."""
    async with await client.request(method, target, SHOWN if is_known else []) as response:
        body = await response.read_all(limit_bytes=1 << 20)
        code = json.loads(body)["error"]["code"] if response.status >= 400 else ""
        return response.status, code


@pytest.mark.contract("d.network.token")
async def test_every_route_of_a_worker_on_the_network_wants_its_token() -> None:
    routes = ["GET /health", "GET /capabilities", "GET /voices", "GET /nothing", "POST /speak"]
    routes += ["POST /load", "POST /unload", "POST /terminate", "POST /voices", "DELETE /voices/a4"]
    async with running(listen=OPEN, environ=TOKEN) as worker:
        port = worker.handshake["listen"].rpartition(":")[2]
        async with Client(parse_address(f"tcp:127.0.0.1:{port}")) as client:
            for route in routes:
                method, target = route.split()
                assert await status_of(client, method, target, is_known=False) == (403, "forbidden")
            assert await status_of(client, "GET", "/health", is_known=True) == (200, "")
            assert await status_of(client, "POST", "/unload", is_known=True) == (200, "")
        head = b"POST /voices HTTP/1.1\r\nhost: w\r\ncontent-length: 20000000\r\n\r\n"
        async with await anyio.connect_tcp("127.0.0.1", int(port)) as stranger:
            await stranger.send(head)  # and nothing of the body: it is not waited for
            assert (await stranger.receive()).startswith(b"HTTP/1.1 403")


async def test_on_loopback_no_token_is_wanted() -> None:
    async with running(listen="tcp:127.0.0.1:0", environ=TOKEN) as worker, worker.client as client:
        assert await status_of(client, "GET", "/health", is_known=False) == (200, "")


async def test_a_network_that_is_trusted_needs_none() -> None:
    async with running(listen=OPEN, environ={"RHAPSODE_WORKER_OPEN": "1"}) as worker:
        port = worker.handshake["listen"].rpartition(":")[2]
        async with Client(parse_address(f"tcp:127.0.0.1:{port}")) as client:
            assert await status_of(client, "GET", "/health", is_known=False) == (200, "")
