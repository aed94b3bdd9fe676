"""One engine's worker: its process and the model in it, started and ended on demand."""

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.abc
from rhapsode_contract import (
    Capabilities,
    EngineSummary,
    Internal,
    LogLine,
    RhapsodeError,
    Unsupported,
)
from rhapsode_http import Client, UnixAddress, first_of, request_id

from rhapsode.registry import ForeignCommand, Origin, PythonModule, RemoteUrl, origin_of
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.environment import worker_environment
from rhapsode.workers.exits import exit_error, silence_error
from rhapsode.workers.handshake import read_handshake
from rhapsode.workers.journal import Journal
from rhapsode.workers.life import Life
from rhapsode.workers.lifecycle import PROCESS, Process, ProcessEvent, advance
from rhapsode.workers.outcome import Outcome
from rhapsode.workers.process import ChildProcess, Launch, open_process
from rhapsode.workers.resident import Resident
from rhapsode.workers.session import Session, ask_to_terminate, first_capabilities
from rhapsode.workers.sockets import SocketFolderRefused, socket_path

logger = logging.getLogger(__name__)

_LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass(frozen=True)
class Surroundings:
    """What every worker of this core is started in."""

    environ: Mapping[str, str]
    """The core's own environment, from which a worker's is built."""

    python: str
    """Our own interpreter, for the launcher of commands that are not ours."""

    sockets: Path
    """The private folder of this core's sockets."""

    voice_dir: Path

    startup_seconds: float

    grace_seconds: float
    """What a worker that was told to end may take."""

    load_seconds: float


class Worker:
    """Owner of one engine's process.

    Nobody looks at its state first and then acts: they say `ensure_up` or `ensure_loaded` and
    wait. Giving up a wait disturbs nobody else, since the work is in tasks of the worker's own.
    """

    def __init__(
        self,
        engine: str,
        entry: EngineEntry,
        surroundings: Surroundings,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """Prepares a worker; starts nothing.

        Args:
            engine: Its id.
            entry: Where it comes from.
            surroundings: What it is started in.
            tasks: Where its life runs; cancelling the group ends its process.
        """
        self.engine = engine
        self._entry = entry
        self._origin: Origin = origin_of(engine, entry)
        self._surroundings = surroundings
        self._tasks = tasks
        self._state = Process.DOWN
        self._start = Outcome[Session]()
        self._session: Session | None = None
        self._ending = anyio.Event()
        self._down = anyio.Event()
        self._down.set()
        self._child: ChildProcess | None = None
        self._resident = Resident(engine, surroundings.load_seconds, tasks, self._ask_to_end)
        self._last_seen: Capabilities | None = None
        self._last_error: str | None = None
        self._restarts = 0

    # What others ask.

    @property
    def resident_variant(self) -> str | None:
        """The variant whose model is loaded or being loaded."""
        return self._resident.variant

    def summary(self) -> EngineSummary:
        """Returns what is known without asking anybody."""
        seen = self._last_seen
        return EngineSummary(
            id=self.engine,
            display_name=seen.engine.display_name if seen else self.engine,
            license=seen.license if seen else None,
            process=self._state.value,
            model=self._resident.state.value,
            variant=self._resident.variant,
            last_error=self._last_error,
            restarts=self._restarts,
        )

    async def ensure_up(self) -> Session:
        """Returns the running process, starting one where there is none.

        Raises:
            RhapsodeError: It did not start.
        """
        while True:
            if self._session is not None and self._state is Process.UP:
                return self._session
            if self._state is Process.DRAINING:
                await self._down.wait()
            elif self._state is Process.STARTING:
                return await self._start.result()
            else:
                self._begin()

    async def ensure_loaded(self, variant: str) -> Session:
        """Returns a running process in which `variant` is loaded.

        The caller holds a lease on the slot, so nobody wants another variant meanwhile.

        Raises:
            RhapsodeError: The process did not start, or the model did not load.
            ForeignError: The worker refused the load with a code that we do not know.
        """
        session = await self.ensure_up()
        await self._resident.ensure(session, variant)
        return session

    async def end(self) -> None:
        """Ends the process and returns once it is reaped; nothing happens where there is none."""
        self._ask_to_end()
        await self._down.wait()

    def kill(self) -> None:
        """Kills the process group at once, for a core that must not wait."""
        if self._child is not None:
            self._child.kill()

    # One life.

    def _begin(self) -> None:
        if isinstance(self._origin, RemoteUrl):
            raise Unsupported(
                f"engine: {self.engine!r} is on another machine, and remote engines are not"
                " served yet",
                field="engine",
            )
        self._fire(ProcessEvent.START)
        self._start = Outcome[Session]()
        self._ending = anyio.Event()
        self._down = anyio.Event()
        self._tasks.start_soon(self._live)

    async def _live(self) -> None:
        """Runs one process from its spawn until it is reaped."""
        # This task was started by some request, whose id is not that of what happens here.
        request_id.set(None)
        life = Life(Journal(self.engine, self._hear))
        failure: RhapsodeError | None = None
        try:
            listen = UnixAddress(socket_path(self._surroundings.sockets, self.engine))
            async with open_process(self._launch(listen), life.hearers) as child:
                self._child = child
                await self._run(child, life, listen)
        except RhapsodeError as error:
            failure = error
        except (OSError, SocketFolderRefused) as error:
            failure = Internal(f"the engine's process cannot be started: {error}")
        except anyio.get_cancelled_exc_class():
            self._fire(ProcessEvent.END)
            raise
        finally:
            self._close(life, failure)

    async def _run(self, child: ChildProcess, life: Life, listen: UnixAddress) -> None:
        """Waits for the process to be ready and then for its end, asked for or not."""
        ready_by = anyio.current_time() + self._surroundings.startup_seconds
        with self._readiness(life, ready_by):
            await first_of(life.has_spoken.wait, self._ending.wait)
        if life.handshake is None:
            return
        address = read_handshake(life.handshake, engine=self.engine, listen=listen)
        async with Client(address) as client:
            with self._readiness(life, ready_by):
                capabilities = await first_capabilities(client)
            if not self._ending.is_set():
                self._become_ready(Session(self.engine, client, child.pid, capabilities))
                await first_of(life.has_ended.wait, self._ending.wait)
            if self._ending.is_set():
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

    def _become_ready(self, session: Session) -> None:
        self._last_seen = session.capabilities
        self._session = session
        self._fire(ProcessEvent.READY)
        logger.info("ready", extra={"engine": self.engine, "pid": session.pid})
        self._start.succeed(session)

    def _close(self, life: Life, failure: RhapsodeError | None) -> None:
        """Takes note that the process is gone."""
        was_asked = self._state is Process.DRAINING
        was_up = self._session is not None
        if failure is None:
            when = "while it was up" if was_up else "before it was ready"
            # Once it was up its log is about other callers' requests, and this goes to any caller.
            words = "" if was_up else life.journal.last_words
            failure = exit_error(life.status or 0, words, when)
        if not was_asked:
            self._last_error = failure.message
            self._restarts += was_up
            logger.error("%s", failure.message, extra={"engine": self.engine})
        session, self._session = self._session, None
        self._child = None
        self._fire(ProcessEvent.EXIT)
        self._resident.process_exited(failure)
        self._start.fail(failure)
        if session is not None:
            session.end(failure)
        self._down.set()

    def _ask_to_end(self) -> None:
        self._fire(ProcessEvent.END)
        self._ending.set()

    def _hear(self, line: LogLine) -> None:
        if line.event == "fetch":
            self._resident.note_progress()

    def _launch(self, listen: UnixAddress) -> Launch:
        around, entry = self._surroundings, self._entry
        match self._origin:
            case PythonModule(python, module):
                command = (str(python), "-m", module)
            case ForeignCommand(words):
                command = (around.python, "-I", "-S", str(_LAUNCHER), *words)
            case RemoteUrl():
                raise AssertionError("unreachable: refused before a start")
        environment = worker_environment(
            around.environ,
            engine=self.engine,
            listen=str(listen),
            voice_dir=around.voice_dir,
            venv=entry.venv,
            extra=entry.env,
        )
        return Launch(command, environment, entry.cwd, around.grace_seconds)

    def _fire(self, event: ProcessEvent) -> None:
        before, self._state = self._state, advance(PROCESS, self._state, event)
        if before is not self._state:
            logger.info(
                "process: %s, %s -> %s",
                event.value,
                before.value,
                self._state.value,
                extra={"engine": self.engine},
            )
