"""The catalog, and jobs that install engines and fetch weights (contract § 10)."""

from typing import Annotated, Any, Literal

from pydantic import StringConstraints

from rhapsode_contract.capabilities import License
from rhapsode_contract.error_body import ErrorDetail
from rhapsode_contract.shape import Request, Shape, Timestamp

JobStep = Literal["venv", "packages", "verify", "register", "weights"]


class CatalogEntry(Shape):
    """An engine that exists, installed here or not."""

    id: str

    display_name: str

    license: License

    package: str

    default_variant: str | None = None

    installed: Literal["no", "installing", "yes"]

    managed: bool
    """Whether this API installed it, and can remove it."""

    worker_version: str | None = None

    outdated: bool | None = None


class InstallJob(Shape):
    """A job, queued, running or over."""

    id: str

    engine: str

    kind: Literal["install", "pull", "reinstall"]

    variant: str | None = None
    """The variant whose weights are fetched."""

    state: Literal["queued", "running", "succeeded", "failed"]

    step: JobStep | None = None

    created_at: Timestamp

    started_at: Timestamp | None = None

    finished_at: Timestamp | None = None

    error: ErrorDetail | None = None
    """There exactly when the job failed."""


class Skipped(Shape):
    """An outdated engine that a general reinstall left alone."""

    engine: str

    reason: Literal["licence", "busy", "uncatalogued"]


class ReinstallOutdated(Shape):
    """What `POST /installs/outdated` answers."""

    jobs: tuple[InstallJob, ...]

    skipped: tuple[Skipped, ...]


class PullRequest(Request):
    """The body of `POST /engines/{id}/pull`."""

    variant: Annotated[str, StringConstraints(min_length=1)]


class Progress(Shape):
    """How far a job is."""

    phase: JobStep

    index: int | None = None

    total: int | None = None

    status: Literal["running", "done", "failed"]


class JobEvent(Shape):
    """The data of one frame of a job's event feed."""

    id: int

    ts: Timestamp

    kind: Literal["progress", "status", "log", "error"]

    source: Literal["installs"]

    correlation_id: str
    """The job's id."""

    level: Literal["debug", "info", "warn", "error"]

    message: str | None = None

    progress: Progress | None = None

    data: dict[str, Any] | None = None
