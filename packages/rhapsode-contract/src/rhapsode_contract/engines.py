"""What the core says of its engines (contract §§ 3, 9; shapes, "The core's own")."""

import re
from typing import Final, Literal

from rhapsode_contract.capabilities import License
from rhapsode_contract.shape import Shape, Timestamp
from rhapsode_contract.workers import ModelState

_ENGINE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")


def is_engine_id(text: str) -> bool:
    """Whether an engine can be called this: 1 to 64 ASCII letters, digits, `.`, `_`, `:` and `-`,
    beginning with a letter or a digit.
    """
    return _ENGINE_ID.fullmatch(text) is not None


ProcessState = Literal["down", "starting", "up", "draining", "failed"]


class EngineSummary(Shape):
    """One engine of this box, as `GET /engines` lists it."""

    id: str

    display_name: str

    license: License | None = None
    """The catalog's, else that of the last capabilities seen."""

    process: ProcessState

    model: ModelState

    variant: str | None = None

    last_error: str | None = None

    restarts: int
    """Exits nobody asked for, since the last calm stretch."""

    worker_version: str | None = None
    """The `rhapsode-worker` in the engine's virtualenv; a diagnostic, never negotiated on."""

    outdated: bool | None = None


class Residency(Shape):
    """How many models are resident, of how many allowed."""

    resident: int

    max: int

    waiting: int
    """Requests that wait for room."""

    blocked_by: str | None = None
    """The engine a waiting request waits for."""


class CoreHealth(Shape):
    """What the core's `GET /health` answers."""

    contract: int

    version: str
    """The core's package version, for display."""

    status: Literal["ok", "degraded"]
    """Degraded when an engine has failed for good."""

    engines: tuple[EngineSummary, ...]

    residency: Residency


class ResidentModel(Shape):
    """One model on the card."""

    engine: str

    variant: str

    leases: int
    """Requests that use it now."""

    last_used_at: Timestamp

    expires_at: Timestamp | None = None
    """Absent while it speaks, and where its keep-alive says never."""

    keep_alive_seconds: int
    """The one in force."""

    size_bytes: int | None = None
    """What the worker measured; absent where it could not."""


class ResidencyDetail(Residency):
    """What `GET /residency` answers."""

    models: tuple[ResidentModel, ...]
