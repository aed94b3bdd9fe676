"""Which engines this box has, and how the worker of each is started."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rhapsode_contract import UnknownEngine

from rhapsode.settings.entry import EngineEntry


@dataclass(frozen=True)
class ForeignCommand:
    """A program that is not ours and does not know of the lifeline."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class PythonModule:
    """A worker made with our SDK, in a virtualenv."""

    python: Path
    module: str


@dataclass(frozen=True)
class RemoteUrl:
    """A worker on another machine."""

    url: str

    token: str | None = None
    """What it is shown."""

    ca_file: Path | None = None
    """Certificates that its own is checked against; the system's where None."""


Origin = ForeignCommand | PythonModule | RemoteUrl


def origin_of(engine: str, entry: EngineEntry) -> Origin:
    """Returns where an engine's worker comes from."""
    if entry.url is not None:
        token = entry.token.get_secret_value() if entry.token else None
        return RemoteUrl(entry.url, token, entry.ca_file)
    if entry.command is not None:
        return ForeignCommand(entry.command)
    assert entry.venv is not None  # the entry has exactly one of the three
    return PythonModule(entry.venv / "bin" / "python", entry.module or default_module(engine))


def default_module(engine: str) -> str:
    """Returns the module that an engine of this id is expected in."""
    return "rhapsode_engine_" + "".join(c if c.isalnum() else "_" for c in engine)


def in_service(entries: Mapping[str, EngineEntry]) -> dict[str, EngineEntry]:
    """Returns the engines that clients may use, in the order of the settings."""
    return {engine: entry for engine, entry in entries.items() if not entry.disabled}


def unknown_engine(engine: str, known: Iterable[str]) -> UnknownEngine:
    """Returns the error for an engine that this box does not have."""
    listed = ", ".join(known) or "none"
    return UnknownEngine(
        f"engine: there is no {engine[:80]!r} here; there are: {listed}", field="engine"
    )


def removed_engine(engine: str) -> UnknownEngine:
    """Returns the error for an engine that was there when it was asked for."""
    return UnknownEngine(f"engine: {engine!r} was uninstalled meanwhile", field="engine")
