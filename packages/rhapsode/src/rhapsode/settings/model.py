"""Every setting, its range and its default (contract § 10, "Settings").

Folders have no default here, because it depends on the user and the platform: the lowest layer
brings them (`folders.py`).
"""

from typing import Annotated, Literal

from pydantic import Field, SecretStr
from rhapsode_contract.shape import Integer

from rhapsode.settings.entry import EngineEntry, EngineId
from rhapsode.settings.field import (
    Count,
    FilePath,
    KeepAlive,
    Live,
    Milliseconds,
    Seconds,
    Section,
    SomeSeconds,
)
from rhapsode.settings.origin import Host, Origin

Port = Annotated[Integer, Field(ge=0, le=65535)]
"""A TCP port. 0 takes a free one, and only a file may ask for that."""


class ServerSettings(Section):
    """The socket clients come to."""

    host: Host = "::"
    """Where to listen; `::` is every interface, on both families."""

    port: Port = 8080

    shutdown_grace_ms: Milliseconds = 20_000
    """What a stop may take: requests in flight go on for all of it but `workers.drainGraceMs`, and
    for half of it at least."""


class LogSettings(Section):
    """The server's log."""

    level: Literal["error", "warn", "info", "debug", "trace"] = "info"


class ResidencySettings(Section):
    """What may be on the card, and for how long."""

    max_resident_models: Annotated[Integer, Field(ge=1), Live()] = 1

    eviction_wait_seconds: Annotated[Seconds, Live()] = 30.0
    """How long a request waits for another engine to finish speaking."""

    keep_alive_seconds: Annotated[KeepAlive, Live()] = 300


class WorkerSettings(Section):
    """Processes of engines."""

    socket_dir: FilePath
    """Where the private folder of this core's sockets is made."""

    voice_dir: FilePath
    """Each engine keeps its voices in a folder of its own below."""

    startup_timeout_seconds: SomeSeconds = 60.0
    """How long a worker may take to say that it is ready."""

    drain_grace_ms: Milliseconds = 10_000
    """How long a worker that was told to end may take before it is killed."""

    max_restarts: Count = 5

    restart_decay_seconds: SomeSeconds = 300.0
    """A worker that lived this long has earned its restarts back."""


class InstallSettings(Section):
    """Where engines are installed."""

    venv_dir: FilePath

    source_dir: FilePath | None = None
    """Folder of engine packages that are installed from there instead of by name."""

    python: str
    """Interpreter for new virtualenvs: a version, a name or a path."""


class ManagementSettings(Section):
    """Who may manage this box."""

    token: SecretStr | None = None

    origins: tuple[Origin, ...] = ()
    """Web origins whose pages may."""


class UpdateSettings(Section):
    """Whether this box asks for news of itself."""

    check: Annotated[bool, Live()] = True


class Settings(Section):
    """Everything an operator decides."""

    server: ServerSettings = ServerSettings()

    log: LogSettings = LogSettings()

    residency: ResidencySettings = ResidencySettings()

    workers: WorkerSettings

    install: InstallSettings

    management: ManagementSettings = ManagementSettings()

    update: UpdateSettings = UpdateSettings()

    engines: dict[EngineId, EngineEntry] = Field(default_factory=dict[str, EngineEntry])
