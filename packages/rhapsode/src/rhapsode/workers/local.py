"""A worker that is a process of ours: spawned, heard, asked to end, always reaped."""

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio
from rhapsode_contract import Capabilities, Internal, LogLine, ModelUnavailable, RhapsodeError
from rhapsode_http import Client, UnixAddress, first_of

from rhapsode.registry import ForeignCommand, PythonModule
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.card import Card
from rhapsode.workers.environment import cuda_variables, worker_environment
from rhapsode.workers.exits import exit_error, silence_error, unmet_error
from rhapsode.workers.handshake import read_handshake
from rhapsode.workers.journal import Journal
from rhapsode.workers.life import Life
from rhapsode.workers.link import End
from rhapsode.workers.patience import Patience
from rhapsode.workers.process import ChildProcess, Launch, open_process
from rhapsode.workers.session import (
    EXIT_NOTICE_SECONDS,
    Session,
    ask_to_terminate,
    first_capabilities,
)
from rhapsode.workers.shortage import Shortage, process_shortage
from rhapsode.workers.sockets import SocketFolderRefused, socket_path

logger = logging.getLogger(__name__)

_LAUNCHER: Final = Path(__file__).with_name("launcher.py")
_MODULE: Final = Path(__file__).with_name("module.py")


@dataclass(frozen=True)
class Surroundings:
    """What every worker of this core is started in."""

    environ: Mapping[str, str]
    """The core's own environment, from which a worker's is built."""

    python: str
    """Our own interpreter, for what a worker is started through."""

    sockets: Path
    """The private folder of this core's sockets."""

    voice_dir: Path

    startup_seconds: float

    grace_seconds: float
    """What a worker that was told to end may take."""

    load_seconds: float

    max_restarts: int

    restart_decay_seconds: float

    patience: Patience = Patience()

    card: Card = field(default_factory=Card)

    def card_of(self, entry: EngineEntry) -> Card:
        """Returns the card as the worker of an entry sees it."""
        return self.card.seen_with(cuda_variables(self.environ, entry.env))


class LocalLink:
    """The process of one engine, one after the other."""

    def __init__(
        self,
        engine: str,
        origin: ForeignCommand | PythonModule,
        entry: EngineEntry,
        surroundings: Surroundings,
        hear: Callable[[LogLine], None],
    ) -> None:
        """Args:
        engine: Its id.
        origin: What is run.
        entry: The engine's, for its environment and folder.
        surroundings: What it is started in.
        hear: Called with each line of its log.
        """
        self._engine = engine
        self._origin = origin
        self._entry = entry
        self._surroundings = surroundings
        self._hear = hear
        self._child: ChildProcess | None = None

    async def live(self, ready: Callable[[Session], None], ending: anyio.Event) -> End:
        """Runs one process from its spawn until it is reaped."""
        life = Life(Journal(self._engine, self._hear))
        was_up = False

        def note_ready(session: Session) -> None:
            nonlocal was_up
            was_up = True
            ready(session)

        path: Path | None = None
        try:
            path = socket_path(self._surroundings.sockets, self._engine)
            listen = UnixAddress(path)
            async with open_process(self._launch(listen), life.hearers) as child:
                self._child = child
                await self._attend(child, life, listen, note_ready, ending)
        except RhapsodeError as error:
            # A handshake that is wrong stays wrong; one that is late may come in time.
            is_starved = isinstance(error, Shortage)
            is_hopeless = not isinstance(error, ModelUnavailable)
            return End(error, is_hopeless=is_hopeless, is_starved=is_starved)
        except OSError as error:
            if (lack := process_shortage(error)) is not None:
                return End(lack, is_starved=True)
            field = "cwd: " if error.filename == str(self._entry.cwd) else ""
            return _not_started(f"{field}{error.filename}: {error.strerror}")
        except SocketFolderRefused as error:
            return _not_started(str(error))
        finally:
            self._child = None
            if path is not None:
                self._clear(path)
        status = life.status or 0
        if was_up:
            # Its log is about other callers' requests by now, and this goes to any caller.
            return End(exit_error(status, "", "while it was up"))
        words = life.journal.last_words
        if life.handshake is not None:
            return End(unmet_error(status, words))
        return End(exit_error(status, words, "before it was ready"), is_hopeless=status >= 0)

    def kill(self) -> None:
        """Kills the process group at once."""
        if self._child is not None:
            self._child.kill()

    async def _attend(
        self,
        child: ChildProcess,
        life: Life,
        listen: UnixAddress,
        ready: Callable[[Session], None],
        ending: anyio.Event,
    ) -> None:
        """Waits for the process to be ready and then for its end, asked for or not."""
        ready_by = anyio.current_time() + self._surroundings.startup_seconds
        with self._readiness(life, ready_by):
            await first_of(life.has_spoken.wait, ending.wait)
        if life.handshake is None:
            return
        address = read_handshake(life.handshake, engine=self._engine, listen=listen)
        async with Client(address) as client:
            with self._readiness(life, ready_by):
                capabilities = await _meet(client, life, ending)
            if capabilities is not None and not ending.is_set():
                stranger = partial(Client, address)
                answer_seconds = self._surroundings.patience.answer_seconds
                ready(
                    Session(self._engine, client, stranger, child.pid, capabilities, answer_seconds)
                )
                await first_of(life.has_ended.wait, ending.wait)
            if ending.is_set():
                await child.end(ask=lambda: ask_to_terminate(client))

    @contextmanager
    def _readiness(self, life: Life, ready_by: float) -> Generator[None]:
        """Bounds a step of the start.

        Raises:
            ModelUnavailable: It was not over at `ready_by`.
        """
        with anyio.CancelScope(deadline=ready_by) as scope:
            yield
        if scope.cancelled_caught:
            raise silence_error(self._surroundings.startup_seconds, life.journal.last_words)

    def _clear(self, path: Path) -> None:
        """Removes the socket, which a worker that was killed has left."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            # A command that is not ours may have left anything there; its next start will tell.
            logger.warning(
                "what lies at %s cannot be removed: %s",
                path,
                error.strerror,
                extra={"engine": self._engine},
            )

    def _launch(self, listen: UnixAddress) -> Launch:
        around, entry = self._surroundings, self._entry
        match self._origin:
            case PythonModule(python, module):
                command = (str(python), str(_MODULE), module)
            case ForeignCommand(words):
                command = (around.python, "-I", "-S", str(_LAUNCHER), *words)
        environment = worker_environment(
            around.environ,
            engine=self._engine,
            listen=str(listen),
            voice_dir=around.voice_dir,
            venv=entry.venv,
            extra=entry.env,
        )
        return Launch(command, environment, entry.cwd, around.grace_seconds)


async def _meet(client: Client, life: Life, ending: anyio.Event) -> Capabilities | None:
    """Asks a process that has shaken hands what it can do; returns None where it should end first,
    or has ended.

    Raises:
        Internal: It lives, and does not say.
        Shortage: It was not asked.
    """
    capabilities: Capabilities | None = None
    failure: RhapsodeError | None = None

    async def ask() -> None:
        nonlocal capabilities, failure
        try:
            capabilities = await first_capabilities(client)
        except RhapsodeError as error:
            failure = error  # raised below, outside of a group

    await first_of(ask, ending.wait, life.has_ended.wait)
    if failure is None:
        return capabilities
    # The end of its connection is seen before its own.
    with anyio.move_on_after(EXIT_NOTICE_SECONDS):
        await first_of(ending.wait, life.has_ended.wait)
    if ending.is_set() or life.status is not None:
        return None
    raise failure


def _not_started(reason: str) -> End:
    return End(Internal(f"the engine's process cannot be started: {reason}"), is_hopeless=True)
