"""The raw worker as a process: `main()` with the promise that it breaks as last word, or `-`."""

import asyncio
import json
import os
import signal
import sys
import threading
from typing import Any, Final

from .plain_server import PlainServer
from .raw_worker import MUTE, Message, RawWorker, Receive, Scope, Send

SUPPORTED: Final = 1
ENGINE: Final = "raw"
_BEGINNING_BYTES: Final = 300_000
ON_ITS_WAY: Final = "all on its way"
"""What is told to a worker to send all of an answer although it is killed, as one seems to whose
answers are as short as what a socket holds."""


def main() -> None:
    """Serves until it is told to end."""
    broken = sys.argv[-1]
    environ = os.environ
    has_lifeline = environ.get("RHAPSODE_WORKER_LIFELINE") == "stdin"
    _log(f"starting, {broken} broken")
    if broken == "2.spawn.three-suffice" and not has_lifeline:
        _log("it needs more than that")
        sys.exit(1)
    if broken == "2.spawn.three-suffice: mute" and not has_lifeline:
        broken = MUTE
    offer = int(environ["RHAPSODE_WORKER_CONTRACT"])
    speaks = 2 if broken == "9.answer.highest" else SUPPORTED
    if offer < SUPPORTED and broken in {"numbers in fields", "9.refuse.too-low: one in its time"}:
        _log_in_fields(offer, speaks if broken == "numbers in fields" else None)
        sys.exit(3)
    if offer < SUPPORTED and broken != "9.refuse.too-low":
        _log(f"offered contract {offer}, this worker speaks {speaks} at least")
        sys.exit(3)
    is_held = has_lifeline and broken != "d.life.ends-with-server"
    if is_held or broken == "1.protocol.by-hand":
        threading.Thread(target=_hold_lifeline, daemon=True).start()
    if broken == "2.logs.json-lines":
        sys.stderr.write('{"said": "what no log line says"}\n')
    if broken == "2.logs.json-lines: no JSON":
        sys.stderr.write("{a set}\n")
    if broken == "2.logs.nothing-raw":
        os.write(2, b"a line of a native library\n")
    if broken in {"6.abort.worker", ON_ITS_WAY}:
        _serve_behind_a_parent(broken, environ["RHAPSODE_WORKER_LISTEN"])
    status = asyncio.run(Process(broken).serve(environ["RHAPSODE_WORKER_LISTEN"]))
    os._exit(status)


class Process:
    """The worker's life between its start and its end."""

    def __init__(self, broken: str, *, parent: int | None = None) -> None:
        """Binds nothing yet.

        Args:
            broken: The promise to break.
            parent: A pipe that ends when the process before this one does.
        """
        self._broken = broken
        self._parent = parent
        is_elsewhere = broken == "9.answer.reported"
        contract = 2 if is_elsewhere or broken == "9.answer.highest" else SUPPORTED
        self._contract = 2 if broken == "9.answer.highest" else SUPPORTED
        voices = os.environ.get("RHAPSODE_VOICE_DIR")
        self._app = RawWorker(broken, contract=contract, drain=self._by_verb, voice_dir=voices)
        self._server = PlainServer(self._serve_one)
        self._told = asyncio.Event()
        self._was_signalled = False
        self._holds = False
        """Whether a long answer is never sent to its end: who is killed in the midst of one."""

    async def serve(self, listen: str) -> int:
        """Serves; returns the exit status."""
        # Only the first one is asked what a whole answer is.
        self._holds = self._broken == "6.abort.worker" and not listen.endswith("/1.sock")
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._by_signal)
        if self._parent is not None:
            loop.add_reader(self._parent, self._told.set)
        is_hasty = self._broken == "2.handshake.bound" and listen.endswith("/1.sock")
        if is_hasty:
            self._shake_hands(listen)
            await asyncio.sleep(0.3)  # the flaw itself: it is not there yet
        listening, said = await self._listen(listen)
        if not is_hasty:
            self._shake_hands(said)
        await self._told.wait()
        await self._leave()
        listening.close()  # and no more: to wait for it is to wait for connections that are kept
        return 1 if self._was_signalled and self._broken == "2.stop.exits-zero" else 0

    async def _listen(self, listen: str) -> tuple[asyncio.Server, str]:
        scheme, _, rest = listen.partition(":")
        connected = self._server.connected
        if scheme == "unix" and self._broken != "1.transport.unix":
            path = f"{rest}.x" if self._broken == "2.spawn.listen-unix" else rest
            return await asyncio.start_unix_server(connected, path), f"unix:{path}"
        if scheme == "tcp" and self._broken == "1.transport.tcp":
            self._app = RawWorker("4.variants.loadable")
        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        return server, f"tcp:127.0.0.1:{0 if self._broken == '2.spawn.listen-tcp' else port}"

    def _shake_hands(self, listen: str) -> None:
        engine = "another" if self._broken == "2.handshake.fields" else ENGINE
        said: dict[str, Any] = {"ready": True, "contract": self._contract, "engine": engine}
        times = 2 if self._broken == "2.handshake.one-line" else 1
        for _ in range(times):
            sys.stdout.write(json.dumps(said | {"listen": listen}) + "\n")
        sys.stdout.flush()

    async def _serve_one(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["raw_path"] == b"/speak" and self._broken == "2.handshake.stdout-reserved":
            sys.stdout.write("speaking now\n")
            sys.stdout.flush()
        if scope["raw_path"] == b"/speak" and self._broken == "dies of speaking":
            os._exit(9)
        if scope["raw_path"] == b"/speak" and self._holds:
            send = _held(send)
        await self._app(scope, receive, send)

    def _by_signal(self) -> None:
        self._was_signalled = True
        self._app.is_draining = True
        self._told.set()

    def _by_verb(self) -> None:
        self._told.set()

    async def _leave(self) -> None:
        told = "2.stop.finishes" if self._was_signalled else "2.stop.terminate"
        is_cut = self._broken in {f"{told}: cut", f"{told}: cut, without a seed"}
        if is_cut or (self._parent is not None and self._broken != ON_ITS_WAY):
            await self._server.end_bodies()
            return
        if self._broken == "2.stop.finishes":
            self._server.cut()
            return
        # A health is asked, and a new request made, while the one in flight is not read: so what
        # is in flight is what it waits for, and a breath for the answers to be written.
        await self._app.falls_silent()
        await asyncio.sleep(0.05)


def _held(send: Send) -> Send:
    """Returns a `send` that says the beginning of a long answer and never its end."""
    sent = 0

    async def send_beginning(message: Message) -> None:
        nonlocal sent
        await send(message)
        sent += len(message.get("body", b""))
        if sent > _BEGINNING_BYTES:
            await asyncio.Event().wait()

    return send_beginning


def _serve_behind_a_parent(broken: str, listen: str) -> None:
    """Serves from a child that outlives its parent, and covers up for it when that is killed."""
    ours, theirs = os.pipe()
    if child := os.fork():
        os.waitpid(child, 0)
        os._exit(0)
    os.setsid()
    os.close(theirs)
    os._exit(asyncio.run(Process(broken, parent=ours).serve(listen)))


def _hold_lifeline() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


def _log_in_fields(offer: int, speaks: int | None) -> None:
    said: dict[str, object] = {"level": "error", "message": "no contract", "offered": offer}
    if speaks is not None:
        said["lowest"] = speaks
    said["time"] = "2026-11-01T01:10:01.1Z"
    sys.stderr.write(json.dumps(said, separators=(",", ":")) + "\n")


def _log(message: str) -> None:
    if sys.argv[-1] == "2.logs.json-lines: silent":
        return
    if sys.argv[-1] == "2.logs.json-lines: raw":
        sys.stderr.write(f"{message}\n")
        return
    sys.stderr.write(json.dumps({"level": "info", "message": message}) + "\n")
    sys.stderr.flush()
