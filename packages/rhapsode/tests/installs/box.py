"""A box to install on: a real folder and a real database, and the two parts that others bring in.

`FolderBuilder` builds what is enough to see which virtualenv is where, and `BoxRoster` keeps
engines as the core does, but for their workers.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx
import pytest
from rhapsode.api import catalog as catalog_api
from rhapsode.api import installs as installs_api
from rhapsode.installs.catalog import CatalogRecord
from rhapsode.installs.feed import Feed
from rhapsode.installs.installer import Installer
from rhapsode.installs.jobs import Jobs
from rhapsode.installs.listing import CatalogListing
from rhapsode.installs.report import Report
from rhapsode.installs.steps import EnvironmentBuilder
from rhapsode.management import Management
from rhapsode.settings.entry import EngineEntry
from rhapsode.state import StateDatabase
from rhapsode_contract import (
    Conflict,
    InstallJob,
    Internal,
    JobEvent,
    JobStep,
    License,
    ModelUnavailable,
    RhapsodeError,
    Unsupported,
)
from rhapsode_http import TcpAddress, exception_handlers
from rhapsode_http.testing import http_only, serving
from starlette.applications import Starlette

VERSION = "0.1.1"
"""Of this core, as the box has it."""

FREE = License(code="MIT", weights="Apache-2.0", weights_commercial_use=True)
Records = Literal["what it should", "nothing", "before it fails", "who knows"]
"""What a `BoxRoster` writes down when it registers an engine."""

BOUND = License(code="MIT", weights="CC-BY-NC-4.0", weights_commercial_use=False)


def record(engine: str, licence: License = FREE) -> CatalogRecord:
    """Returns what a catalog says of an engine."""
    return CatalogRecord(
        id=engine,
        display_name=engine.title(),
        license=licence,
        package=f"rhapsode-engine-{engine}",
        module=f"rhapsode_engine_{engine}",
        variants=("sine", "square", "built-in"),
        devices=("cpu",),
        download_bytes=1,
        weights_bytes={"sine": 1, "square": 1},
    )


class FolderBuilder:
    """Makes a folder that holds a version, or does not get that far."""

    def __init__(self) -> None:
        self.version = VERSION
        self.breaks_at: JobStep | None = None
        self.hangs_at: JobStep | None = None
        self.hangs = anyio.Event()
        """Set once it hangs; `may_go_on` lets it."""
        self.may_go_on = anyio.Event()
        self.built: list[Path] = []

    async def build(self, record: CatalogRecord, slot: Path, report: Report) -> None:
        _empty(slot)
        for step in ("venv", "packages", "verify"):
            report.step(step)
            report.line(f"{step} of {record.id}")
            await self._misbehave(step)
            if step == "venv":
                _fill(slot, None)
        _fill(slot, self.version)
        self.built.append(slot)

    async def _misbehave(self, step: JobStep) -> None:
        if step == self.hangs_at:
            self.hangs.set()
            await self.may_go_on.wait()
        if step == self.breaks_at:
            raise Internal(f"pip install: no compiler, in {step}")


def _empty(slot: Path) -> None:
    if slot.exists():
        (slot / "VERSION").unlink(missing_ok=True)
        slot.rmdir()


def _fill(slot: Path, version: str | None) -> None:
    slot.mkdir(parents=True, exist_ok=True)
    if version is not None:
        (slot / "VERSION").write_text(version, encoding="utf-8")


class BoxRoster:
    """The engines of a box: the operator's, and those of the database."""

    def __init__(self, database: StateDatabase | None, config: Mapping[str, EngineEntry]) -> None:
        self.database = database
        self._config = config
        self._speaking: dict[str, anyio.Event] = {}
        self.diary: list[str] = []
        self.fetches: Callable[[str, Callable[[int, int | None], None]], None] | None = None
        """What a worker does for `fetch`; None for one that fetches nothing."""
        self.records: Records = "what it should"

    def origin(self, engine: str) -> Literal["config", "database"] | None:
        if engine in self._config:
            return "config"
        return "database" if engine in self._recorded() else None

    def entry(self, engine: str) -> EngineEntry | None:
        return self._config.get(engine) or self._recorded().get(engine)

    def worker_version(self, engine: str) -> str | None:
        entry = self.entry(engine)
        if entry is None or entry.venv is None or not (entry.venv / "VERSION").exists():
            return None
        return (entry.venv / "VERSION").read_text(encoding="utf-8")

    def is_outdated(self, engine: str) -> bool | None:
        version = self.worker_version(engine)
        return None if version is None else version != VERSION

    def engines(self) -> list[str]:
        return sorted({*self._config, *self._recorded()})

    async def register(self, engine: str, entry: EngineEntry, *, wait_seconds: float) -> None:
        self.diary.append(f"waits {wait_seconds:g} for {engine}")
        if engine in self._speaking:
            with anyio.move_on_after(wait_seconds):
                await self._speaking[engine].wait()
        if engine in self._speaking:
            raise Conflict(f"engine: {engine!r} still speaks")
        assert self.database is not None
        assert entry.venv is not None
        assert entry.venv.is_dir()
        if self.records == "nothing":
            raise Internal("the disk is full")
        raw = entry.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        self.database.record_engine(engine, raw)
        self.diary.append(f"records {engine} in {entry.venv.name}")
        if self.records == "before it fails":
            raise Internal("the old worker survives SIGKILL")
        if self.records == "who knows":
            self.database.close()
            raise Internal("the disk is gone")

    async def remove(self, engine: str) -> None:
        if engine in self._speaking:
            raise Conflict(f"engine: {engine!r} is speaking")
        assert self.database is not None
        self.database.remove_engine(engine)
        self.diary.append(f"removes {engine}")

    async def fetch(
        self, engine: str, variant: str, progress: Callable[[int, int | None], None]
    ) -> None:
        await anyio.lowlevel.checkpoint()
        self.diary.append(f"fetches {variant} of {engine}")
        if self.fetches is None:
            raise Unsupported("this engine fetches nothing")
        self.fetches(variant, progress)

    def begin_speaking(self, engine: str) -> None:
        """Takes a lease for somebody."""
        self._speaking[engine] = anyio.Event()

    def end_speaking(self, engine: str) -> None:
        """Gives it back."""
        self._speaking.pop(engine).set()

    def _recorded(self) -> dict[str, EngineEntry]:
        if self.database is None:
            return {}
        raw = self.database.engines()
        return {engine: EngineEntry.model_validate(entry) for engine, entry in raw.items()}


def downloads(variant: str, progress: Callable[[int, int | None], None]) -> None:
    """Fetches four bytes, for `BoxRoster.fetches`."""
    for received in range(5):
        progress(received, 4)


def breaks_off(variant: str, progress: Callable[[int, int | None], None]) -> None:
    """Fetches half of it."""
    progress(2, 4)
    raise ModelUnavailable("the weights were not fetched: no network")


class Box:
    """All of it."""

    def __init__(self, folder: Path, roster: BoxRoster, builder: EnvironmentBuilder | None) -> None:
        self.venvs = folder / "venvs"
        self.roster = roster
        self.builder = FolderBuilder()
        self.feed = Feed()
        self.jobs = Jobs(self.feed)
        catalog = {
            each.id: each
            for each in (record("bound", BOUND), record("hum"), record("tone"), record("whistle"))
        }
        self.installer = Installer(catalog, builder or self.builder, roster, self.jobs, self.venvs)
        self.listing = CatalogListing(catalog, roster, self.jobs)

    @property
    def app(self) -> Starlette:
        """The routes, without the guard that stands before them in a core."""
        app = Starlette(
            routes=[*installs_api.routes, *catalog_api.routes],
            exception_handlers=exception_handlers(),
        )
        app.state.management = Management(
            self.installer, self.jobs, self.feed, self.listing, anyio.CancelScope()
        )
        return app

    async def until_over(self, job_id: str) -> list[JobEvent]:
        """Returns everything that a job has told."""
        reader, told = self.feed.reader(job_id), list[JobEvent]()
        while not told or told[-1].progress is None or told[-1].progress.status == "running":
            await reader.wait()
            told += [JobEvent.model_validate_json(event.data) for event in reader.take().events]
        return told

    async def install(self, engine: str = "tone", *, accept: str | None = None) -> None:
        """Installs an engine, and waits until it is there."""
        job = self.installer.install(engine, pull=None, accept=accept)
        await self.until_over(job.id)
        assert self.jobs.job(job.id).shape().state == "succeeded"

    async def install_old(self, engine: str = "tone", *, accept: str | None = None) -> None:
        """Installs an engine as an earlier core did."""
        self.builder.version = "0.1.0"
        await self.install(engine, accept=accept)
        self.builder.version = VERSION

    @property
    def lying_there(self) -> dict[str, str]:
        """What the folder holds: by name, the version of a whole virtualenv, or `remains`."""
        found: dict[str, str] = {}
        for path in sorted(self.venvs.glob("[!.]*")):
            version = path / "VERSION"
            found[path.name] = version.read_text() if version.exists() else "remains"
        return found

    def venv_of(self, engine: str) -> Path | None:
        """Where the database says that an engine runs from."""
        entry = self.roster.entry(engine)
        return None if entry is None else entry.venv


@asynccontextmanager
async def open_box(
    folder: Path,
    *,
    config: Mapping[str, EngineEntry] | None = None,
    has_database: bool = True,
    builder: EnvironmentBuilder | None = None,
) -> AsyncGenerator[Box]:
    """Runs a box for the length of the block; one that is opened again finds what was there.

    Args:
        folder: Where the database and the virtualenvs lie.
        config: The operator's engines.
        has_database: Whether there is one.
        builder: Builds instead of the box's own.
    """
    state = StateDatabase.open(folder / "rhapsode.db") if has_database else nullcontext()
    with state as database, anyio.fail_after(20 if builder is None else 300):
        box = Box(folder, BoxRoster(database, config or {}), builder)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.jobs.run)
            yield box
            tasks.cancel_scope.cancel()


@dataclass(frozen=True)
class Served:
    """A box that serves its routes, on a port of its own."""

    box: Box
    http: httpx.AsyncClient
    address: TcpAddress


@asynccontextmanager
async def serve_box(
    folder: Path, *, config: Mapping[str, EngineEntry] | None = None, has_database: bool = True
) -> AsyncGenerator[Served]:
    """Serves such a box for the length of the block."""
    async with (
        open_box(folder, config=config, has_database=has_database) as box,
        serving(http_only(box.app)) as server,
    ):
        address = server.addresses[0]
        assert isinstance(address, TcpAddress)
        url = f"http://{address.authority}"
        # Unverified, since there is no TLS: reading the certificates of authorities takes longer
        # than a test.
        async with httpx.AsyncClient(
            base_url=url, timeout=30, trust_env=False, verify=False
        ) as http:
            yield Served(box, http, address)


def install(box: Box, engine: str = "tone", **asked: str) -> InstallJob:
    """Asks for an install."""
    return box.installer.install(engine, pull=asked.get("pull"), accept=asked.get("accept"))


def refused(error: type[RhapsodeError], box: Box, engine: str, **asked: str) -> str:
    """Returns what the refusal of an install says; there is no job after it."""
    before = len(box.jobs.newest_first())
    with pytest.raises(error) as caught:
        install(box, engine, **asked)
    assert len(box.jobs.newest_first()) == before
    return caught.value.message


async def over(box: Box, job: InstallJob) -> dict[str, Any]:
    """Returns a job once it is over."""
    await box.until_over(job.id)
    return box.jobs.job(job.id).shape().to_object()
