"""One encoder child, seen from the worker, and the response it is on."""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, Self

import anyio
from anyio.abc import Process

from rhapsode_worker.encoding.encoder import EncoderCrashed, FrameAligner
from rhapsode_worker.encoding.framing import FramingError, Kind, Unpacker, pack, pieces
from rhapsode_worker.native_format import NativeFormat

_READ_BYTES: Final = 65_536
_PIECES_AHEAD: Final = 4
"""Encoded pieces that may wait for the reader; past them the child waits, then the writer."""

_REAP_SECONDS: Final = 5.0


class EncoderProcess:
    """A child, and what one task that lives as long as it does: `greet`, `serve`, `end`."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._unpacker = Unpacker()
        self._response: ChildEncoder | None = None
        self._last_words = ""
        self.missing: dict[str, str] = {}
        """The formats that the child cannot do, and why; known once `greet` has returned."""

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """False once its end has been seen."""
        return self._process.returncode is None

    async def greet(self) -> None:
        """Waits until the child has said what it can do.

        Raises:
            EncoderCrashed: It said something else, or ended.
        """
        while data := await self._read():
            for kind, payload in self._unpack(data):
                if kind is not Kind.READY:
                    raise EncoderCrashed(f"The encoder began with {kind.name}.")
                self.missing = json.loads(payload)["missing"]
                return
        raise EncoderCrashed("The encoder ended before it was ready.")

    async def serve(self) -> None:
        """Hands what the child says to the response it is on, until the child ends."""
        while data := await self._read():
            for kind, payload in self._unpack(data):
                if kind is Kind.ERROR:
                    self._last_words = payload.decode(errors="replace")
                elif self._response is not None:
                    await self._response.take(kind, payload)

    async def end(self) -> None:
        """Kills the child, reaps it, and fails the response it was on. Bounded."""
        self.kill()
        with anyio.move_on_after(_REAP_SECONDS, shield=True):
            await self._stdin.aclose()
            # To the end, or the pipe's transport is never closed.
            while await self._read():
                pass
            await self._process.wait()
            await self._stdout.aclose()
        if self._response is not None:
            self._response.fail(self._obituary())
            self._response = None

    def kill(self) -> None:
        """Ends the child at once; whatever it was doing is lost."""
        if self.is_alive:
            self._process.kill()

    def attach(self, response: "ChildEncoder") -> None:
        """Makes `response` the one that the child's messages are for."""
        self._response = response

    def detach(self) -> None:
        """From here on nobody listens to what the child still says."""
        self._response = None

    async def send(self, message: bytes) -> None:
        """Waits until the pipe has room.

        Raises:
            EncoderCrashed: The child does not read any more.
        """
        try:
            await self._stdin.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise self._obituary() from error

    async def _read(self) -> bytes:
        """Returns what the child says next; nothing once it has ended."""
        try:
            return await self._stdout.receive(_READ_BYTES)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return b""

    def _unpack(self, data: bytes) -> Iterator[tuple[Kind, bytes]]:
        try:
            yield from self._unpacker.feed(data)
        except FramingError as error:
            # Nothing that follows can be understood; its end is noticed as any other.
            self._last_words = str(error)
            self.kill()

    def _obituary(self) -> EncoderCrashed:
        status = self._process.returncode
        ended = "it broke off" if status is None else f"it ended with status {status}"
        if status is not None and status < 0:
            ended = f"it was killed by signal {-status}"
        return EncoderCrashed(f"the encoder broke off: {self._last_words or ended}")


class ChildEncoder:
    """One response on a child; an `Encoder`."""

    def __init__(self, process: EncoderProcess, native: NativeFormat) -> None:
        self._process = process
        self._aligner = FrameAligner(native.bytes_per_frame)
        self._in, self._out = anyio.create_memory_object_stream[bytes](_PIECES_AHEAD)
        self._is_started = anyio.Event()
        self._failure: EncoderCrashed | None = None
        self.is_complete = False
        """Whether the child has said the last of it, and is free for another."""

    async def start(self, format: str, native: NativeFormat, *, is_buffered: bool) -> None:
        """Returns when the child has the codec open.

        Raises:
            EncoderCrashed: It has not.
        """
        start = {
            "format": format,
            "sample_rate": native.sample_rate,
            "channels": native.channels,
            "buffered": is_buffered,
        }
        await self._send(pack(Kind.START, json.dumps(start).encode()))
        await self._is_started.wait()
        if self._failure is not None:
            raise self._failure

    async def write(self, pcm: bytes) -> None:
        """As `Encoder.write`."""
        for piece in pieces(self._aligner.align(pcm)):
            await self._send(pack(Kind.PCM, piece))

    async def finish(self) -> None:
        """As `Encoder.finish`."""
        await self._send(pack(Kind.FINISH))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """As `Encoder.__anext__`."""
        try:
            return await self._out.receive()
        except anyio.EndOfStream:
            if self._failure is not None:
                raise self._failure from None
            raise StopAsyncIteration from None

    async def take(self, kind: Kind, payload: bytes) -> None:
        """Called by the child's task with each message; waits while the reader is slow."""
        match kind:
            case Kind.STARTED:
                self._is_started.set()
            case Kind.DATA:
                # Where the reader has left, what is still to come is for nobody.
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await self._in.send(payload)
            case Kind.END:
                self.is_complete = True
                self._in.close()
            case _:
                self.fail(EncoderCrashed(f"The encoder said {kind.name} in a response."))

    def fail(self, failure: EncoderCrashed) -> None:
        """Wakes everybody who waits, with `failure`, unless the response is whole."""
        if self.is_complete or self._failure is not None:
            return
        self._failure = failure
        self._is_started.set()
        self._in.close()

    def close(self) -> None:
        """The caller is done with it, whole or not."""
        self._in.close()
        self._out.close()

    async def _send(self, message: bytes) -> None:
        # A child that ends closes its end of the pipe, which wakes whoever waits for room in it.
        if self._failure is None:
            await self._process.send(message)
        if self._failure is not None:
            raise self._failure


async def spawn(expected_rate_hz: int) -> EncoderProcess:
    """Starts a child; the caller owns it and calls `end`.

    It stays in the worker's process group, so that whoever kills the group kills it too, and
    writes its last tracebacks where the worker writes its log. Shielded: a cancelled spawn would
    leave a child that nobody reaps.
    """
    # -P: a module in the working folder must not stand in for a library's.
    command = [sys.executable, "-P", "-m", "rhapsode_worker.encoding.child", str(expected_rate_hz)]
    process: Process | None = None
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(command, stderr=None)
    # Nobody else has this scope, so it is never cancelled half-way.
    assert process is not None
    return EncoderProcess(process)
