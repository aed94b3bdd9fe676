"""Real workers, for tests of what only a process boundary can show."""

import os
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx
import pytest
from rhapsode.app import Core, open_core
from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.file import load_settings
from rhapsode.settings.folders import Folders
from rhapsode.settings.loaded import LoadedSettings
from rhapsode.settings.model import ResidencySettings
from rhapsode.speech.deadlines import Deadlines
from rhapsode.workers.local import Surroundings
from rhapsode.workers.patience import Patience
from rhapsode.workers.sockets import socket_folder
from rhapsode.workers.worker import Worker
from rhapsode_http import Server, TcpAddress, bind

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture
def tone() -> Callable[..., EngineEntry]:
    """Gives the entry of a tone engine that misbehaves as told."""

    def make(*flags: str) -> EngineEntry:
        env = {"RHAPSODE_TONE_MISBEHAVE": ",".join(flags)} if flags else {}
        return EngineEntry(venv=Path(sys.prefix), env=env)

    return make


@pytest.fixture
def open_worker(tmp_path: Path, short_path: Path) -> OpenWorker:
    """Gives a worker for the length of a block."""

    @asynccontextmanager
    async def opened(
        entry: EngineEntry,
        *,
        engine: str = "tone",
        startup_seconds: float = 20.0,
        grace_seconds: float = 5.0,
        load_seconds: float = 20.0,
        max_restarts: int = 5,
        restart_decay_seconds: float = 300.0,
        patience: Patience | None = None,
    ) -> AsyncGenerator[Worker]:
        with anyio.fail_after(40), socket_folder(short_path / "s") as sockets:
            surroundings = Surroundings(
                environ=os.environ,
                python=sys.executable,
                sockets=sockets,
                voice_dir=tmp_path / "voices",
                startup_seconds=startup_seconds,
                grace_seconds=grace_seconds,
                load_seconds=load_seconds,
                max_restarts=max_restarts,
                restart_decay_seconds=restart_decay_seconds,
                patience=patience or Patience(),
            )
            async with anyio.create_task_group() as tasks:
                yield Worker(engine, entry, surroundings, tasks)
                tasks.cancel_scope.cancel()

    return opened


@pytest.fixture
def is_alive() -> Callable[[int], bool]:
    """Says whether a process is there; one that is dead and not reaped counts as there."""

    def ask(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    return ask


@dataclass(frozen=True)
class Served:
    """A core that serves in this process, on a port of its own."""

    core: Core
    http: httpx.AsyncClient
    address: TcpAddress
    server: Server

    async def speak(self, **fields: object) -> httpx.Response:
        """Asks for an utterance."""
        return await self.http.post("/speak", json=fields)


Serve = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture
def serve(tmp_path: Path, short_path: Path) -> Serve:
    """Gives a serving core for the length of a block."""

    @asynccontextmanager
    async def served(
        engines: Mapping[str, EngineEntry],
        *,
        deadlines: Deadlines | None = None,
        patience: Patience | None = None,
        drain_grace_ms: int = 10_000,
        residency: ResidencySettings | None = None,
    ) -> AsyncGenerator[Served]:
        folders = Folders(tmp_path / "c", tmp_path / "d", short_path / "s", None)
        usual = load_settings(None, folders).settings
        settings = usual.model_copy(
            update={
                "engines": dict(engines),
                "residency": residency or ResidencySettings(),
                "workers": usual.workers.model_copy(update={"drain_grace_ms": drain_grace_ms}),
            }
        )
        with anyio.fail_after(40), bind(TcpAddress("127.0.0.1", 0)) as bound:
            async with open_core(
                LoadedSettings.of(settings),
                environ=os.environ,
                python=sys.executable,
                deadlines=deadlines,
                patience=patience,
            ) as core:
                server = Server(core.app, bound)
                address = server.addresses[0]
                assert isinstance(address, TcpAddress)
                url = f"http://{address.authority}"
                async with (
                    # Unverified, since there is no TLS: reading the certificates of authorities
                    # takes longer than a test.
                    httpx.AsyncClient(
                        base_url=url, timeout=30, trust_env=False, verify=False
                    ) as http,
                    anyio.create_task_group() as tasks,
                ):
                    await tasks.start(server.serve)
                    yield Served(core, http, address, server)
                    tasks.cancel_scope.cancel()

    return served


@pytest.fixture
def unruly() -> EngineEntry:
    """Gives the entry of a worker that does what the text of a request says."""
    return EngineEntry(command=(sys.executable, str(Path(__file__).with_name("unruly_worker.py"))))


@pytest.fixture
def second_tone() -> EngineEntry:
    """Gives the entry of a tone engine of another name: `other`."""
    code = (
        "from rhapsode_engine_tone.engine import ToneEngine\n"
        "from rhapsode_worker import serve\n"
        "serve(type('Other', (ToneEngine,), {'id': 'other'})())"
    )
    return EngineEntry(command=(sys.executable, "-c", code))


@dataclass(frozen=True)
class Identity:
    """A certificate that nobody has signed but its owner."""

    certificate: Path
    context: ssl.SSLContext
    """For whoever shows it."""


@pytest.fixture(scope="session")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    """Gives a certificate of 127.0.0.1, as new as the tests."""
    return _identity(tmp_path_factory.mktemp("identity"))


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    """Gives another."""
    return _identity(tmp_path_factory.mktemp("stranger"))


def _identity(folder: Path) -> Identity:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        + ["-nodes", "-days", "2", "-subj", "/CN=site", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", os.fspath(key), "-out", os.fspath(certificate)],
        check=True,
        capture_output=True,
        timeout=30,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return Identity(certificate, context)
