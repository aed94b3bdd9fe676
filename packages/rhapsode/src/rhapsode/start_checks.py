"""What a start looks at before it serves, asked of settings before they are saved."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rhapsode_http import SocketError, TcpAddress, bind

from rhapsode.settings.desk import StartCheck
from rhapsode.settings.live import LiveSettings
from rhapsode.settings.place import check_can_be_made
from rhapsode.settings.start_refused import StartRefused
from rhapsode.workers.sockets import SOCKETS_KEY, check_socket_folder
from rhapsode.workers.voice_folder import VOICES_KEY

_HOST_KEY: Final = "server.host"
_VENVS_KEY: Final = "install.venvDir"

_SHORTEST_ENGINE: Final = "e"
"""Stands for those that are not installed yet: a folder in which none could have a socket is of no
use to a box without engines either."""


def start_checks(live: LiveSettings) -> Mapping[str, StartCheck[Any]]:
    """Returns the checks of those settings that a start could be refused for, by dotted key.

    Each blocks, and may run on any thread; it leaves nothing behind.

    Args:
        live: Asked now which engines the next start has.
    """
    engines = (*live.local_engines, _SHORTEST_ENGINE)

    def check_sockets(folder: Path) -> None:
        check_socket_folder(folder, engines)

    def check_voices(folder: Path) -> None:
        check_can_be_made(VOICES_KEY, folder)

    def check_venvs(folder: Path) -> None:
        check_can_be_made(_VENVS_KEY, folder)

    return {
        _HOST_KEY: _check_host,
        SOCKETS_KEY: check_sockets,
        VOICES_KEY: check_voices,
        _VENVS_KEY: check_venvs,
    }


def _check_host(host: str) -> None:
    """Looks whether this machine can listen on a host, on whatever port is free.

    Raises:
        StartRefused: It can't, or nobody knows the host.
    """
    try:
        bind(TcpAddress(host, 0)).close()
    except SocketError as error:
        raise StartRefused(f"{_HOST_KEY}: {error.strerror}", _HOST_KEY) from None
