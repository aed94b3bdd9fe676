"""An engine as this box has it written down, and what is known of it before any process runs."""

from dataclasses import dataclass
from typing import Self

from rhapsode_contract import License

from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.installed import worker_version_in


@dataclass(frozen=True)
class Label:
    """What an engine is called, and the licences it comes under, as the catalog has them."""

    display_name: str

    license: License


@dataclass(frozen=True)
class Declaration:
    """One engine from the moment it is declared until it is declared anew."""

    entry: EngineEntry

    label: Label | None

    worker_version: str | None
    """The worker SDK in its virtualenv; None where it has none here, or none that can be read."""

    @classmethod
    def of(cls, entry: EngineEntry, label: Label | None = None) -> Self:
        """Looks into the virtualenv, which is why it is made once and not for each question."""
        version = worker_version_in(entry.venv) if entry.venv is not None else None
        return cls(entry, label, version)
