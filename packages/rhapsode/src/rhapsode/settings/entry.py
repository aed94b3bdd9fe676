"""One engine of this box, as its operator or its install wrote it down."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Self, cast
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from rhapsode_contract import is_engine_id

from rhapsode.settings.field import KeepAlive, Live, Section, SomeSeconds

_MODULE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


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
    parts = urlsplit(text)
    if parts.scheme in {"http", "https"} and parts.hostname and _has_port_in_range(parts):
        return text
    raise ValueError("should be an absolute http or https URL")


def _check_command(words: object) -> object:
    """Stands before pydantic's own checks, whose words are about tuples."""
    if isinstance(words, list | tuple):
        each = cast(Sequence[object], words)
        if each and all(isinstance(word, str) and word for word in each):
            return each
    raise ValueError("should be a list of words, the program first and none of them empty")


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

    venv: Path | None = None
    """Folder of the virtualenv whose Python runs `module`."""

    module: Module | None = None
    """Module of the worker; `rhapsode_engine_<id>` where it is left out."""

    command: Command | None = None
    """Anything else on this box that speaks the contract, as a list of words."""

    cwd: Path | None = None
    """Folder the worker starts in."""

    url: Url | None = None
    """A worker on another machine."""

    token: SecretStr | None = None
    """What the core shows a worker that asks for a token."""

    ca_file: Path | None = None
    """Certificates that the one of a remote worker is checked against, instead of the system's."""

    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Variables of the worker, over those it is given anyway."""

    disabled: bool = False
    """Keeps the entry and takes the engine out of service."""

    autostart: bool = False
    """Starts the process, never the model, with the server."""

    keep_alive_seconds: Annotated[KeepAlive | None, Live()] = None
    """Of this engine, over `residency.keepAliveSeconds`."""

    deadlines: EntryDeadlines = EntryDeadlines()

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
