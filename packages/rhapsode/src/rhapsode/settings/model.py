"""Every setting, its range and its default (contract § 10, "Settings").

Folders have no default here, because it depends on the user and the platform: the lowest layer
brings them (`folders.py`).
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from rhapsode_contract.shape import Integer, Number

from rhapsode.settings.entry import EngineEntry, EngineId
from rhapsode.settings.field import (
    LARGEST_COUNT,
    LONGEST_SECONDS,
    Count,
    FileOnly,
    FilePath,
    KeepAlive,
    Live,
    Milliseconds,
    Seconds,
    Section,
    SomeSeconds,
)
from rhapsode.settings.origin import Host, Origin

Port = Annotated[Integer, Field(ge=0, le=65535), FileOnly(0)]
"""A TCP port. 0 takes a free one."""


def _check_token(token: SecretStr) -> SecretStr:
    """Refuses a token that nobody could show: the ends of a header are stripped."""
    secret = token.get_secret_value()
    if secret != secret.strip() or not all(" " <= character != "\x7f" for character in secret):
        raise ValueError("should hold no control characters, and no space at its ends")
    return token


ManagementToken = Annotated[SecretStr, AfterValidator(_check_token)]


def _check_interpreter(text: str) -> str:
    if text and text.isprintable() and not text.startswith("-"):
        return text
    raise ValueError("should be a version, a name or a path of Python")


Interpreter = Annotated[str, AfterValidator(_check_interpreter)]


class ServerSettings(Section):
    """The socket clients come to."""

    host: Host = "::"
    """Where to listen; `::` is every interface, on both families."""

    port: Port = 8080
    """The TCP port to listen on; 0 takes a free one."""

    shutdown_grace_ms: Milliseconds = 20_000
    """What a stop may take: requests in flight go on for all of it but `workers.drainGraceMs`, and
    for half of it at least."""


class LogSettings(Section):
    """The server's log."""

    level: Literal["error", "warn", "info", "debug", "trace"] = "info"
    """What is logged: this, and what is graver."""


class ResidencySettings(Section):
    """What may be on the card, and for how long."""

    max_resident_models: Annotated[Integer, Field(ge=1, le=LARGEST_COUNT), Live()] = 1
    """How many models may be loaded at once. A lower number evicts nothing until room is needed."""

    eviction_wait_seconds: Annotated[Seconds, Live()] = 30.0
    """How long a request waits for another engine to finish speaking."""

    keep_alive_seconds: Annotated[KeepAlive, Live()] = 300
    """How long an idle model stays: -1 until its room is needed, 0 not at all. An engine's own, and
    a request's, come first."""


class WorkerSettings(Section):
    """Processes of engines."""

    socket_dir: FilePath
    """Where the private folder of this core's sockets is made."""

    voice_dir: FilePath
    """Each engine keeps its voices in a folder of its own below. A change moves none of them."""

    startup_timeout_seconds: Annotated[Number, Field(ge=0.1, le=LONGEST_SECONDS)] = 60.0
    """How long a worker may take to say that it is ready."""

    drain_grace_ms: Milliseconds = 10_000
    """How long a worker that was told to end may take before it is killed."""

    max_restarts: Count = 5
    """How often a worker that crashes is started again, before its engine has failed."""

    restart_decay_seconds: SomeSeconds = 300.0
    """A worker that lived this long has earned its restarts back."""


class InstallSettings(Section):
    """Where engines are installed."""

    venv_dir: FilePath
    """Each engine's virtualenv is a folder below. A change moves none that is there already."""

    source_dir: FilePath | None = None
    """Folder of engine packages that are installed from there instead of by name."""

    python: Interpreter
    """Interpreter for new virtualenvs: a version, a name or a path."""


class ManagementSettings(Section):
    """Who may manage this box."""

    token: ManagementToken | None = None
    """Admits whoever shows it, from anywhere; an empty one is none."""

    origins: tuple[Origin, ...] = ()
    """Web origins whose pages may, besides this machine's own."""


class UpdateSettings(Section):
    """Whether this box asks for news of itself."""

    check: Annotated[bool, Live()] = True
    """Whether it asks if there is a newer release, at most once a day. `RHAPSODE_UPDATE_CHECK=0` in
    the server's environment is above this: it never asks then."""


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
