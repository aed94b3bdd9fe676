"""`rhapsode serve`: the server, until it is told to stop."""

import logging
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import anyio
import typer
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
from rhapsode.settings.file import find_config, load_settings
from rhapsode.settings.folders import user_folders
from rhapsode.settings.layers import SettingsRefused
from rhapsode.settings.model import Settings
from rhapsode.version import VERSION
from rhapsode.workers.sockets import SocketFolderRefused

logger = logging.getLogger(__name__)

_LEVELS: Final = {
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": logging.DEBUG,
}
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
) -> None:
    """Run the server.

    SIGTERM or Ctrl-C lets what is being spoken finish, then ends; a second one ends at once.
    """
    folders = user_folders(os.environ)
    try:
        path = find_config(config, os.environ, Path.cwd(), folders)
        settings = load_settings(path, folders).settings
        configure_logs(_LEVELS[settings.log.level])
        with bind(TcpAddress(settings.server.host, settings.server.port)) as bound:
            options = {"use_uvloop": True}
            is_clean = anyio.run(_serve, settings, bound, path, backend_options=options)
    except (SettingsRefused, SocketFolderRefused) as error:
        _refuse(str(error))
    except SocketError as error:
        _refuse(error.strerror or str(error))
    raise typer.Exit(0 if is_clean else 1)


def _refuse(reason: str) -> NoReturn:
    print(f"rhapsode serve: {' '.join(reason.split())}", file=sys.stderr)
    raise typer.Exit(2)


async def _serve(settings: Settings, bound: BoundSockets, config: Path | None) -> bool:
    """Serves to the end; returns whether everybody was let finish."""
    async with open_core(settings, environ=os.environ, python=sys.executable) as core:
        stop = _Stop(Server(core.app, bound), core, settings.server.shutdown_grace_ms / 1000)
        async with beside(stop.heed_signals), anyio.create_task_group() as tasks:
            await tasks.start(stop.server.serve)
            print(greeting(bound, tuple(core.fleet), config), flush=True)
    return stop.is_clean


class _Stop:
    """The way out: a drain, bounded, and cut short by a second signal."""

    def __init__(self, server: Server, core: Core, grace_seconds: float) -> None:
        self.server = server
        self.is_clean = True
        """Whether nobody was cut off by a second signal."""
        self._core = core
        self._grace_seconds = grace_seconds

    async def heed_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async with anyio.create_task_group() as tasks:
                async for number in signals:
                    if self.server.is_draining:
                        self._end_now(number)
                    else:
                        count = self.server.in_flight
                        logger.info("%s: finishing %d requests", number.name, count)
                        self.server.drain()
                        tasks.start_soon(self._end_in_time)

    async def _end_in_time(self) -> None:
        await anyio.sleep(self._grace_seconds)
        logger.warning("requests were still in flight after %g s", self._grace_seconds)
        self.server.close()

    def _end_now(self, number: signal.Signals) -> None:
        logger.warning("%s again: ending at once", number.name)
        self.is_clean = False
        self._core.fleet.kill()
        self.server.close()


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
