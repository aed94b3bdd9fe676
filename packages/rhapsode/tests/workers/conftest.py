"""Workers on another machine, and what lies between them and the core."""

import json
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
import anyio.abc
import pytest
from anyio.streams.tls import TLSStream
from rhapsode_http import beside

_OTHER = (
    "from rhapsode_engine_tone.engine import ToneEngine; from rhapsode_worker import serve;"
    " serve(type('Other', (ToneEngine,), {'id': 'other'})())"
)
"""A program: a tone engine whose name is `other`."""


@dataclass
class RemoteTone:
    """A tone engine on TCP, which a supervisor of its own starts again each time it ends."""

    environ: dict[str, str]
    listen: str
    program: tuple[str, ...]
    pids: list[int] = field(default_factory=list[int])
    """Of every process so far."""
    exits: list[int] = field(default_factory=list[int])
    """Their statuses."""
    is_ready: anyio.Event = field(default_factory=anyio.Event)
    """Set while one listens."""

    @property
    def port(self) -> int:
        return int(self.listen.rpartition(":")[2])

    async def supervise(self) -> None:
        """Runs one process after the other."""
        while True:
            process = await self._spawn()
            self.pids.append(process.pid)
            try:
                await self._attend(process)
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                with anyio.CancelScope(shield=True):
                    await process.aclose()

    async def _spawn(self) -> anyio.abc.Process:
        with anyio.CancelScope(shield=True):  # a spawn cut short leaves a child to nobody
            return await anyio.open_process(
                [sys.executable, *self.program],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=self.environ | {"RHAPSODE_WORKER_LISTEN": self.listen},
            )
        raise AssertionError("unreachable: a shield swallows nothing")

    async def _attend(self, process: anyio.abc.Process) -> None:
        assert process.stdout is not None
        self.listen = json.loads(await process.stdout.receive())["listen"]
        self.is_ready.set()
        self.exits.append(await process.wait())
        self.is_ready = anyio.Event()


OpenRemote = Callable[..., AbstractAsyncContextManager[RemoteTone]]


@pytest.fixture
def open_remote() -> OpenRemote:
    """Gives a remote worker for the length of a block, on loopback unless told otherwise."""

    @asynccontextmanager
    async def opened(
        *flags: str,
        is_other: bool = False,
        listen: str = "tcp:127.0.0.1:0",
        token: str | None = None,
    ) -> AsyncGenerator[RemoteTone]:
        name = "other" if is_other else "tone"
        environ = {"RHAPSODE_WORKER_ENGINE": name, "RHAPSODE_WORKER_CONTRACT": "1"}
        environ |= {"RHAPSODE_TONE_MISBEHAVE": ",".join(flags)} if flags else {}
        environ |= {"RHAPSODE_WORKER_TOKEN": token} if token else {}
        program = ("-c", _OTHER) if is_other else ("-m", "rhapsode_engine_tone")
        worker = RemoteTone(environ, listen, program)
        async with beside(worker.supervise):
            await worker.is_ready.wait()
            yield worker

    return opened


Edit = Callable[[bytes], bytes]


@dataclass
class Relay:
    """A way to a port, which may carry TLS, be edited on, and be held up."""

    target: int
    tls: ssl.SSLContext | None
    edit_request: Edit
    edit_answer: Edit
    port: int = 0
    flows: anyio.Event = field(default_factory=anyio.Event)
    """Not set while it is held up: then it takes everything and passes nothing on."""

    def hold(self) -> None:
        """Passes nothing on any more."""
        self.flows = anyio.Event()

    def resume(self) -> None:
        """Passes on what was held up, and all that follows."""
        self.flows.set()

    async def carry(self, near: anyio.abc.ByteStream) -> None:
        """Carries one connection."""
        # Either end may go at any time, and a client may not like the certificate.
        with suppress(OSError, anyio.BrokenResourceError, anyio.EndOfStream):
            async with near:
                if self.tls is not None:
                    near = await TLSStream.wrap(
                        near, server_side=True, ssl_context=self.tls, standard_compatible=False
                    )
                async with (
                    await anyio.connect_tcp("127.0.0.1", self.target) as far,
                    anyio.create_task_group() as tasks,
                ):
                    tasks.start_soon(self._pass_on, near, far, self.edit_request, tasks)
                    tasks.start_soon(self._pass_on, far, near, self.edit_answer, tasks)

    async def _pass_on(
        self,
        source: anyio.abc.ByteStream,
        sink: anyio.abc.ByteStream,
        edit: Edit,
        both: anyio.abc.TaskGroup,
    ) -> None:
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
            while piece := await source.receive():
                await self.flows.wait()
                await sink.send(edit(piece))
        both.cancel_scope.cancel()


OpenRelay = Callable[..., AbstractAsyncContextManager[Relay]]


@pytest.fixture
def open_relay() -> OpenRelay:
    """Gives a relay to a port for the length of a block."""

    @asynccontextmanager
    async def opened(
        target: int,
        *,
        tls: ssl.SSLContext | None = None,
        edit_request: Edit = bytes,
        edit_answer: Edit = bytes,
    ) -> AsyncGenerator[Relay]:
        relay = Relay(target, tls, edit_request, edit_answer)
        relay.resume()
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            relay.port = listener.extra(anyio.abc.SocketAttribute.local_port)
            async with beside(lambda: listener.serve(relay.carry)):
                yield relay

    return opened
