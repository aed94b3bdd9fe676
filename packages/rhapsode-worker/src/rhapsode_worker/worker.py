"""From an engine to a worker: handshake, sockets, signals, exit codes (contract §§ 2, 8)."""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final, NoReturn, cast

import anyio
from rhapsode_contract import ContractMismatch, Handshake, answer_at
from rhapsode_http import Server, SocketError, beside, bind, configure_logs, is_loopback
from starlette.types import ASGIApp

from rhapsode_worker.capabilities import DeclarationError, check_declaration
from rhapsode_worker.devices import detect
from rhapsode_worker.doorkeeper import Doorkeeper
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.engine import Engine
from rhapsode_worker.environment import HopelessStart, WorkerEnvironment
from rhapsode_worker.lifeline import hold_lifeline
from rhapsode_worker.output import HandshakeStream, capture_stdout
from rhapsode_worker.routes import Drain, Routes
from rhapsode_worker.stderr import capture_stderr, finish_stderr
from rhapsode_worker.studio import Studio
from rhapsode_worker.voicing.staging import Staging

logger = logging.getLogger(__name__)

_LAST_ANSWERS_SECONDS: Final = 5.0
"""What is still being answered when the device is lost either fails at once or hangs."""

EXIT_DRAINED: Final = 0
EXIT_CRASHED: Final = 1
EXIT_CUT_SHORT: Final = 1
"""A second signal ended the drain; what was in flight may have been cut."""
EXIT_HOPELESS: Final = 3
"""Starting again would end the same way: a wrong variable, no contract in common, an address that
cannot be had, an adapter that declares nonsense."""


def serve(engine: Engine) -> NoReturn:
    """Serves an engine until it is told to stop, then ends the process.

    Call it last, under a main guard. It takes standard output for itself: what is printed from
    here on goes to the log, and so does what Python code writes on standard error.
    """
    configure_logs()  # before anything is captured: what was printed so far is logged too
    capture_stderr()
    handshake = capture_stdout()
    _leave(_run(engine, handshake))


def _leave(status: int) -> NoReturn:
    finish_stderr()
    logging.shutdown()
    # Not sys.exit(): that joins threads, and a model's threads may never end.
    os._exit(status)


def _run(engine: Engine, handshake: HandshakeStream) -> int:
    """Serves to the end of the process; returns the status of a worker that failed."""
    try:
        environment = WorkerEnvironment.read(os.environ)  # noqa: TID251  # the SDK's one place
        if environment.has_lifeline:
            hold_lifeline()
        return anyio.run(
            _serve_and_leave, engine, environment, handshake, backend_options={"use_uvloop": True}
        )
    except (HopelessStart, ContractMismatch, DeclarationError) as error:
        logger.critical("%s", error)
        return EXIT_HOPELESS
    except SocketError as error:
        logger.critical("%s", error.strerror)  # its words alone: str() begins with a number
        return EXIT_HOPELESS
    except BaseException:
        logger.critical("the worker failed", exc_info=True)
        return EXIT_CRASHED


async def _serve_and_leave(
    engine: Engine, environment: WorkerEnvironment, handshake: HandshakeStream
) -> NoReturn:
    """Serves to the end, and ends the process while its signals are still taken.

    Given back first, a second signal that comes a moment after the first one would end a drained
    worker with that signal's status.
    """
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        _leave(await _serve(engine, environment, handshake, signals))


async def _serve(
    engine: Engine,
    environment: WorkerEnvironment,
    handshake: HandshakeStream,
    signals: AsyncIterator[signal.Signals],
) -> int:
    """Serves to the end; returns the exit status."""
    if isinstance(cast(object, engine), type):
        raise DeclarationError("serve() takes an engine, not its class: write serve(Name())")
    environment.check_engine(getattr(engine, "id", ""))
    contract = answer_at(environment.offer)
    environment.check_network()
    engine.device = detect(engine.device_types)
    engine.voice_dir = environment.voice_dir_for(engine.id)
    engine.weights_dir = environment.weights_dir_for(engine.id)
    check_declaration(engine)
    _sweep(Staging(engine.voice_dir))
    async with EncoderPool(engine.native_format) as encoders:
        with bind(environment.listen) as bound:
            drain = Drain(lambda: server.drain(), lambda: server.is_draining)
            device = _DeviceWatch()
            studio = Studio(engine, device.note_lost)
            routes = Routes(engine, studio, encoders, contract, drain)
            app: ASGIApp = routes.app()
            if environment.token is not None and not is_loopback(environment.listen):
                app = Doorkeeper(app, environment.token)
            server = Server(app, bound)
            way_out = _WayOut(server)
            ready = Handshake(
                ready=True, contract=contract, engine=engine.id, listen=str(bound.address)
            )
            async with (
                beside(lambda: way_out.take(signals)),
                beside(lambda: device.end_if_lost(server)),
                anyio.create_task_group() as tasks,
            ):
                await tasks.start(server.serve)
                handshake.send(ready.to_json())
            if device.is_lost:
                return EXIT_CRASHED
            return EXIT_CUT_SHORT if way_out.was_cut_short else EXIT_DRAINED


class _DeviceWatch:
    """Ends a worker whose device is lost, for a core to replace it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lost = anyio.Event()

    @property
    def is_lost(self) -> bool:
        return self._lost.is_set()

    def note_lost(self) -> None:
        """May be called from any thread."""
        with suppress(RuntimeError):  # the loop is closed: the worker leaves already
            self._loop.call_soon_threadsafe(self._lost.set)

    async def end_if_lost(self, server: Server) -> None:
        """Lets what is in flight hear of it, and no longer than that."""
        await self._lost.wait()
        logger.critical("the device is lost; ending, so that a new process can find it")
        server.drain()
        await anyio.sleep(_LAST_ANSWERS_SECONDS)
        server.close()


def _sweep(staging: Staging) -> None:
    try:
        staging.sweep()
    except OSError as error:
        logger.warning("what an earlier worker left of an upload is still there: %s", error)


class _WayOut:
    """The end that signals ask for."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.was_cut_short = False

    async def take(self, signals: AsyncIterator[signal.Signals]) -> None:
        """The first signal drains; a second one ends at once.

        One after `/terminate` is the first: whoever asks both ways must not cut what is in flight.
        """
        await anext(signals)
        self._server.drain()
        await anext(signals)
        self.was_cut_short = True
        self._server.close()
