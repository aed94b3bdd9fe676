"""`rhapsode serve`: the server, until it is told to stop."""

import gc
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import anyio
import typer
from rhapsode_contract import Internal
from rhapsode_http import (
    BoundSockets,
    Server,
    SocketError,
    TcpAddress,
    beside,
    bind,
    configure_logs,
)

from rhapsode.app import Core, open_core
from rhapsode.cli.standard_streams import put
from rhapsode.settings.file import find_config, load_settings
from rhapsode.settings.folders import user_folders
from rhapsode.settings.layers import SettingsRefused
from rhapsode.settings.loaded import LoadedSettings
from rhapsode.settings.model import ServerSettings, Settings
from rhapsode.settings.start_refused import StartRefused
from rhapsode.state import StateDatabase, StateRefused, database_path
from rhapsode.version import VERSION

logger = logging.getLogger(__name__)

_LEVELS: Final = {
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": logging.DEBUG,
}
_IGNORED: Final = (
    "--ignore-saved: the settings saved in %s are not used: %s;"
    " PATCH /settings clears those that it is given null for"
)
_EVERYWHERE: Final = {"::", "0.0.0.0"}


def serve(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            metavar="FILE",
            help="Default: $RHAPSODE_CONFIG, else rhapsode.toml here, else the user's own.",
        ),
    ] = None,
    ignore_saved: Annotated[
        bool,
        typer.Option(
            "--ignore-saved",
            help="Use the config file alone, where a setting saved over the API is in the way.",
        ),
    ] = False,
) -> None:
    """Run the server.

    SIGTERM or Ctrl-C lets what is being spoken finish, then ends; a second one ends at once.
    """
    folders = user_folders(os.environ)
    try:
        path = find_config(config, os.environ, Path.cwd(), folders)
        with StateDatabase.open(database_path(path, folders)) as state:
            contents = state.contents()
            loaded = load_settings(path, folders, contents, ignores_saved=ignore_saved)
            configure_logs(_LEVELS[loaded.settings.log.level])
            if ignore_saved:
                logger.warning(_IGNORED, state.path, ", ".join(contents.settings) or "nothing")
            is_clean = _run(loaded, state, path)
    except (SettingsRefused, StateRefused) as error:
        _refuse(str(error))
    except Internal as error:
        _refuse(error.message)
    except GreetingFailed as error:
        _refuse(str(error))
    raise typer.Exit(0 if is_clean else 1)


def _run(loaded: LoadedSettings, state: StateDatabase, config: Path | None) -> bool:
    options = {"use_uvloop": True}
    try:
        with _bound(loaded.settings.server) as bound:
            return anyio.run(_serve, loaded, state, bound, config, backend_options=options)
    except StartRefused as refused:
        raise loaded.refusal(refused) from None


def _bound(server: ServerSettings) -> BoundSockets:
    try:
        return bind(TcpAddress(server.host, server.port))
    except SocketError as error:
        why = error.strerror or str(error)
        raise StartRefused(why, "server.host", "server.port") from None


class GreetingFailed(Exception):
    """Nobody can be told where the server is; one line that says why."""


def _refuse(reason: str) -> NoReturn:
    print(f"rhapsode serve: {' '.join(reason.split())}", file=sys.stderr)
    raise typer.Exit(2)


async def _serve(
    loaded: LoadedSettings, state: StateDatabase, bound: BoundSockets, config: Path | None
) -> bool:
    """Serves to the end; returns whether it came without a second signal.

    Clients that are cut off, and workers that are killed, since `server.shutdownGraceMs` ends are
    what that setting asks for, so an end that cuts them is a clean one.

    Raises:
        GreetingFailed: Standard output takes no greeting.
        SocketFolderRefused: There is no place for the workers' sockets.
        FolderRefused: There is none for voices.
    """
    unheard: OSError | None = None
    stop = _Stop(loaded.settings)
    # Around the core as well: its end is that of the workers, which a second signal cuts short.
    async with (
        beside(stop.heed_signals),
        open_core(loaded, environ=os.environ, python=sys.executable, state=state) as core,
        anyio.create_task_group() as tasks,
    ):
        # What is imported by now stays to the end: no collection need walk it while it serves.
        gc.freeze()
        server = Server(core.app, bound)
        await tasks.start(server.serve)
        stop.watch(server, core)
        try:
            put(os.fsencode(greeting(bound, tuple(core.fleet), config) + "\n"))
        except OSError as error:
            unheard = error
            server.close()
    # Out here, where no task group wraps it.
    if unheard is not None:
        raise GreetingFailed(f"{unheard.filename}: {unheard.strerror}")
    return stop.is_clean


class _Stop:
    """The way out: a drain, bounded, and cut short by a second signal."""

    def __init__(self, settings: Settings) -> None:
        self.is_clean = True
        """Whether no second signal cut the drain short."""
        grace_seconds = settings.server.shutdown_grace_ms / 1000
        # What is left of it once requests are cut off belongs to the workers.
        self._workers_seconds = min(settings.workers.drain_grace_ms / 1000, grace_seconds / 2)
        self._requests_seconds = grace_seconds - self._workers_seconds
        self._server: Server | None = None
        self._core: Core | None = None
        self._signals = 0

    def watch(self, server: Server, core: Core) -> None:
        """Begins to stop these when told to, at once where that was before."""
        self._server, self._core = server, core
        if self._signals:
            self._drain()

    def _drain(self) -> None:
        if self._server is not None and self._core is not None:
            self._server.drain()
            # What jobs tell has no end of its own, and would be waited for.
            self._core.management.stop()

    async def heed_signals(self) -> None:
        """Heeds signals for as long as it runs."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async with anyio.create_task_group() as tasks:
                async for number in signals:
                    self._signals += 1
                    if self._signals == 1:
                        tasks.start_soon(self._end_in_time, number)
                    else:
                        self._end_now(number)

    async def _end_in_time(self, number: signal.Signals) -> None:
        if self._server is not None:
            logger.info("%s: finishing %d requests", number.name, self._server.in_flight)
        self._drain()
        await anyio.sleep(self._requests_seconds)
        if self._server is not None:
            if self._server.in_flight:
                logger.warning("requests are still in flight after %g s", self._requests_seconds)
            # Without any, there may be listeners who have not taken all of their answers.
            self._server.close()
        await anyio.sleep(self._workers_seconds)
        logger.warning("workers are still there at the end of server.shutdownGraceMs")
        self._kill()

    def _end_now(self, number: signal.Signals) -> None:
        logger.warning("%s again: ending at once", number.name)
        self.is_clean = False
        self._kill()
        if self._server is not None:
            self._server.close()

    def _kill(self) -> None:
        if self._core is not None:
            self._core.fleet.kill()


def greeting(bound: BoundSockets, engines: tuple[str, ...], config: Path | None) -> str:
    """Returns the line that says where the server is and what it has."""
    address = bound.address
    where = str(address)
    if isinstance(address, TcpAddress):
        is_everywhere = address.host in _EVERYWHERE
        shown = TcpAddress("localhost", address.port) if is_everywhere else address
        where = f"http://{shown.authority}" + (", on every interface" if is_everywhere else "")
    has = f"engines: {', '.join(engines)}" if engines else "no engines yet"
    came = f"config: {config}" if config else "no config file, the defaults hold"
    return f"Rhapsode {VERSION} listens on {where} ({has}; {came})"
