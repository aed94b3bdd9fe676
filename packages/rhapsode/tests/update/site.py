"""A server that is asked for the latest release, and answers as a test tells it to."""

import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import anyio.abc
from anyio.streams.tls import TLSListener
from rhapsode_http import beside

PAGE: Final = "https://github.com/MaroonedSoftware/rhapsode/releases/tag/"

Reply = Callable[[anyio.abc.ByteStream], Awaitable[None]]


def released(tag: str = "v0.2.0", /, **fields: Any) -> bytes:
    """Returns what GitHub answers, or something like it."""
    told = {"tag_name": tag, "html_url": PAGE + tag, "draft": False, "prerelease": False}
    return json.dumps(told | {"assets": [{"name": "rhapsode.whl"}]} | fields).encode()


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Returns a whole answer."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close", *headers]
    head = "".join(f"{line}\r\n" for line in [*lines, f"Content-Length: {len(body)}"])
    return head.encode() + b"\r\n" + body


@dataclass
class Site:
    """Who is asked."""

    says: bytes | Reply = answer(released())
    """Sent to whoever asks; or sends it."""

    heads: list[bytes] = field(default_factory=list[bytes])
    """What it was asked, the head of each request."""

    url: str = ""

    answers: anyio.Event = field(default_factory=anyio.Event)
    """Not set while it keeps who asks waiting."""

    _came: anyio.Event = field(default_factory=anyio.Event)

    @property
    def asked(self) -> int:
        """How often it was."""
        return len(self.heads)

    async def until_asked(self, times: int) -> None:
        """Waits for the head of so many requests."""
        while self.asked < times:
            await self._came.wait()

    async def serve(self, stream: anyio.abc.ByteStream) -> None:
        """Serves one connection, one request."""
        # Whoever asks may leave at any moment.
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream, ssl.SSLError, OSError):
            async with stream:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += await stream.receive()
                self.heads.append(head)
                self._came.set()
                self._came = anyio.Event()
                await self.answers.wait()
                if isinstance(self.says, bytes):
                    await stream.send(self.says)
                else:
                    await self.says(stream)


@asynccontextmanager
async def open_site(
    says: bytes | Reply | None = None, *, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Site]:
    """Runs one on a port of its own for the length of a block."""
    site = Site() if says is None else Site(says)
    site.answers.set()
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as plain:
        port = plain.extra(anyio.abc.SocketAttribute.local_port)
        listener = plain if tls is None else TLSListener(plain, tls, standard_compatible=False)
        site.url = f"http{'s' if tls else ''}://127.0.0.1:{port}/releases/latest"
        async with beside(lambda: listener.serve(site.serve)):
            yield site
