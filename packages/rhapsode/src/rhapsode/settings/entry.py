"""One engine of this box, as its operator or its install wrote it down."""

import re
from collections.abc import Sequence
from typing import Annotated, Final, Self, cast
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError
from rhapsode_contract import is_engine_id

from rhapsode.settings.field import (
    UNREPEATED,
    FilePath,
    KeepAlive,
    Live,
    Section,
    SomeSeconds,
)
from rhapsode.settings.origin import is_host

_MODULE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_NO_URL: Final = "should be an absolute http or https URL"


def _check_engine_id(text: str) -> str:
    if is_engine_id(text):
        return text
    raise ValueError(
        "an engine id is 1 to 64 letters, digits, . _ : and -, beginning with a letter or a digit"
    )


def _check_module(text: str) -> str:
    if _MODULE.fullmatch(text):
        return text
    raise ValueError("should be the dotted name of a Python module")


def _check_url(text: str) -> str:
    """Refuses what would not be sent, and so would only stand in errors that everybody sees."""
    # The first of them begins a query or a fragment, wherever it is.
    if "?" in text or "#" in text:
        raise _unrepeated("should have no query and no fragment; a token has a field of its own")
    parts = _split(text)
    if "@" in parts.netloc:
        raise _unrepeated("should hold no user and no password; a token has a field of its own")
    if parts.scheme in {"http", "https"} and _has_host(parts) and _has_port_in_range(parts):
        return text
    raise ValueError(_NO_URL)


def _split(text: str) -> SplitResult:
    # `urlsplit` drops some of them, so that another URL would be shown than is asked.
    if _CONTROL.search(text):
        raise ValueError(f"{_NO_URL}, without control characters")
    try:
        return urlsplit(text)
    except ValueError:
        raise _unrepeated(_NO_URL) from None


def _has_host(parts: SplitResult) -> bool:
    """Whether the resolver can be asked for the host, which it is in IDNA."""
    try:
        return is_host((parts.hostname or "").encode("idna").decode("ascii"))
    except UnicodeError:
        return False


def _unrepeated(message: str) -> PydanticCustomError:
    return PydanticCustomError(UNREPEATED, "{message}", {"message": message})


def _check_command(words: object) -> object:
    """Stands before pydantic's own checks, whose words are about tuples."""
    if isinstance(words, list | tuple):
        each = cast(Sequence[object], words)
        if each and all(isinstance(word, str) and word and "\0" not in word for word in each):
            return each
    raise ValueError(
        "should be a list of words, the program first, none of them empty or holding a NUL"
    )


def _check_token(token: SecretStr) -> SecretStr:
    if _CONTROL.search(token.get_secret_value()):
        raise ValueError("should hold no control characters")
    return token


def _check_variable(name: str) -> str:
    if name and not {"=", "\0"} & set(name):
        return name
    raise ValueError("the name of a variable is not empty and holds no = and no NUL")


def _check_value(text: str) -> str:
    if "\0" in text:
        raise ValueError("the value of a variable holds no NUL")
    return text


def _has_port_in_range(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


EngineId = Annotated[str, AfterValidator(_check_engine_id)]
"""What clients call an engine."""

Module = Annotated[str, AfterValidator(_check_module)]

Url = Annotated[str, AfterValidator(_check_url)]

Command = Annotated[tuple[str, ...], BeforeValidator(_check_command)]

Token = Annotated[SecretStr, AfterValidator(_check_token)]

Variable = Annotated[str, AfterValidator(_check_variable)]

Value = Annotated[str, AfterValidator(_check_value)]


class EntryDeadlines(Section):
    """What the stages of a request may take on this engine, in seconds, over the server's own."""

    load_seconds: SomeSeconds | None = None
    """From asking for a load, or from its last news of progress; 600 else."""

    first_audio_seconds: SomeSeconds | None = None
    """From the end of every earlier request to the first audio; 120 else."""

    stall_seconds: SomeSeconds | None = None
    """Between two pieces of a stream; 120 else."""

    segment_seconds: SomeSeconds | None = None
    """Of a whole answer, for each segment of its text; 120 else."""


class EngineEntry(Section):
    """Where an engine's worker comes from: a virtualenv, a command, or another machine."""

    venv: FilePath | None = None
    """Folder of the virtualenv whose Python runs `module`."""

    module: Module | None = None
    """Module of the worker; `rhapsode_engine_<id>` where it is left out."""

    command: Command | None = None
    """Anything else on this box that speaks the contract, as a list of words."""

    cwd: FilePath | None = None
    """Folder the worker starts in."""

    url: Url | None = None
    """A worker on another machine. Callers see it in errors, so it holds nothing secret."""

    token: Token | None = None
    """What the core shows a worker that asks for a token."""

    ca_file: FilePath | None = None
    """Certificates that the one of a remote worker is checked against, instead of the system's."""

    env: dict[Variable, Value] = Field(default_factory=dict[Variable, Value])
    """Variables of the worker, over those it is given anyway."""

    disabled: bool = False
    """Keeps the entry and takes the engine out of service."""

    autostart: bool = False
    """Starts the process, never the model, with the server."""

    keep_alive_seconds: Annotated[KeepAlive | None, Live()] = None
    """How long this engine's idle model stays, over `residency.keepAliveSeconds`."""

    deadlines: EntryDeadlines = EntryDeadlines()
    """What the stages of a request may take: `loadSeconds`, `firstAudioSeconds`, `stallSeconds` and
    `segmentSeconds`, over the server's own."""

    accepted: str | None = None
    """The weights licence that was accepted when it was installed."""

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        sources = [name for name in ("venv", "command", "url") if getattr(self, name) is not None]
        if len(sources) != 1:
            came = " and ".join(sources) or "none of them"
            raise ValueError(f"should have one of venv, command and url, not {came}")
        if self.module is not None and self.venv is None:
            raise ValueError("a module goes with a venv")
        return self
