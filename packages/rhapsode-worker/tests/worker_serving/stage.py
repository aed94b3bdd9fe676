"""A player behind real routes, a real server and a real client."""

import json
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
from rhapsode_http import Client, Server, UnixAddress, UpstreamResponse, beside, bind
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.routes import Drain, Routes
from rhapsode_worker.studio import Studio

from .player import Player

JSON = [(b"content-type", b"application/json")]
LIMIT_BYTES = 1 << 30


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes
    trailers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error envelope; nothing else may be in it."""
        error = self.json["error"]
        assert self.json == {"error": error}
        assert error.keys() == {"code", "message", "retryable"}
        assert self.headers["content-type"] == "application/json"
        assert error["retryable"] == ("retry-after" in self.headers)
        return str(error["code"])

    @property
    def message(self) -> str:
        return str(self.json["error"]["message"])


@dataclass(frozen=True)
class Stage:
    """What a test works with."""

    player: Player
    studio: Studio
    server: Server
    client: Client
    socket: Path

    async def begin(
        self, method: str, target: str, body: dict[str, Any] | bytes = b"", **headers: str
    ) -> UpstreamResponse:
        """Sends a request and returns its answer once the head has come."""
        sent = [
            (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
        ]
        if isinstance(body, dict):
            return await self.client.request(
                method, target, [*JSON, *sent], json.dumps(body).encode()
            )
        return await self.client.request(method, target, sent, body)

    async def ask(
        self, method: str, target: str, body: dict[str, Any] | bytes = b"", **headers: str
    ) -> Answer:
        """Sends a request and returns the whole answer."""
        async with await self.begin(method, target, body, **headers) as response:
            whole = await response.read_all(limit_bytes=LIMIT_BYTES)
            return Answer(response.status, _text(response.headers), whole, _text(response.trailers))

    async def begin_speaking(self, **fields: Any) -> UpstreamResponse:
        """Asks for speech, streamed unless `fields` say otherwise."""
        return await self.begin("POST", "/speak", {"text": "Hello.", "stream": True, **fields})

    async def speak(self, **fields: Any) -> Answer:
        """Asks for speech and hears it out."""
        return await self.ask("POST", "/speak", {"text": "Hello.", **fields})


@asynccontextmanager
async def on_stage(player: Player, encoders: EncoderPool) -> AsyncGenerator[Stage]:
    """Serves a player for as long as the block lasts. Nothing may take longer than a minute."""
    drain = Drain(lambda: server.drain(), lambda: server.is_draining)
    studio = Studio(player)
    routes = Routes(player, studio, encoders, 1, drain)
    with (
        anyio.fail_after(60),
        tempfile.TemporaryDirectory(prefix="rhw") as folder,
        bind(UnixAddress(Path(folder) / "w.sock")) as bound,
    ):
        server = Server(routes.app(), bound)
        async with beside(server.serve), Client(bound.address) as client:
            yield Stage(player, studio, server, client, Path(folder) / "w.sock")


async def until(condition: Callable[[], bool]) -> None:
    """Lets the loop run until something is so; the stage's deadline bounds it."""
    while not condition():
        await anyio.lowlevel.checkpoint()


async def happened(event: Event) -> None:
    """Waits for another thread."""
    assert await anyio.to_thread.run_sync(event.wait, 30, abandon_on_cancel=True)


def _text(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in headers}
