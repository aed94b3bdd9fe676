"""A server with real workers, for tests that look at it from outside."""

import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .core_process import SOCKETS

ROOT: Final = Path(__file__).parents[2]

HIBARI: Final = ROOT / ".quickstart" / "venvs" / "hibari"
"""Where `script/test` puts the real engine."""

RHAPSODE: Final = Path(sys.executable).with_name("rhapsode")

_STOP_SECONDS: Final = 60


@contextmanager
def serving(folder: Path, engines: str) -> Generator[str]:
    """Runs `rhapsode serve` for the length of a block; yields its URL.

    Args:
        folder: An empty one, for the config, the database and the log.
        engines: The `[engines.…]` tables of the config.
    """
    port = _free_port()
    config = folder / "rhapsode.toml"
    config.write_text(
        f'[server]\nhost = "127.0.0.1"\nport = {port}\n\n'
        f'[workers]\nvoiceDir = "{folder / "voices"}"\nsocketDir = "{SOCKETS}"\n\n'
        f'[install]\nvenvDir = "{folder / "venvs"}"\n\n{engines}',
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [RHAPSODE, "serve", "--config", config],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    said: list[bytes] = []
    try:
        # pytest's own limit ends a wait for a server that neither starts nor ends.
        for line in process.stdout:
            said.append(line)
            if f":{port}".encode() in line:
                break
        else:
            raise AssertionError(b"".join(said).decode())
        reader = threading.Thread(target=said.extend, args=(process.stdout,))
        reader.start()
        yield f"http://127.0.0.1:{port}"
        process.terminate()
        reader.join(_STOP_SECONDS)
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)
        process.stdout.close()


def tone() -> str:
    """Returns the table of the engine that plays tones, run from this environment."""
    return f'[engines.tone]\nvenv = "{sys.prefix}"\n\n'


def hibari() -> str:
    """Returns the table of the real engine."""
    return f'[engines.hibari]\nvenv = "{HIBARI}"\n\n'


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
