"""The composition: settings in, every part built and tied to the others, an ASGI app out."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields

import anyio
import anyio.abc
from rhapsode_contract import RhapsodeError
from rhapsode_http import exception_handlers
from starlette.applications import Starlette
from starlette.types import ASGIApp

from rhapsode.api import card, engines, health, speak
from rhapsode.api import catalog as catalog_api
from rhapsode.api import installs as installs_api
from rhapsode.api import metrics as metrics_page
from rhapsode.api import settings as settings_api
from rhapsode.api import update as update_api
from rhapsode.api import voices as voices_api
from rhapsode.api.guard.guard import guarded
from rhapsode.api.openapi import page as openapi_page
from rhapsode.installs.catalog import load_catalog
from rhapsode.management import Management, labels_of
from rhapsode.metrics import Metrics
from rhapsode.registry import in_service
from rhapsode.residency.manager import ResidencyManager
from rhapsode.roster import LiveRoster
from rhapsode.settings.desk import SettingsDesk
from rhapsode.settings.live import LiveSettings
from rhapsode.settings.loaded import LoadedSettings
from rhapsode.speech.account import SpeechMetrics
from rhapsode.speech.deadlines import Deadlines, DeadlinesOfEngines
from rhapsode.speech.speak import Speech
from rhapsode.start_checks import start_checks
from rhapsode.state import StateDatabase
from rhapsode.update.updates import Updates
from rhapsode.voices import Voices
from rhapsode.workers.fleet import Fleet
from rhapsode.workers.local import Surroundings
from rhapsode.workers.patience import Patience
from rhapsode.workers.sockets import socket_folder, socket_path
from rhapsode.workers.voice_folder import check_voice_folder

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Core:
    """A running core."""

    app: ASGIApp
    """What a server serves."""

    fleet: Fleet

    management: Management


@asynccontextmanager
async def open_core(
    loaded: LoadedSettings,
    *,
    environ: Mapping[str, str],
    python: str,
    state: StateDatabase | None = None,
    deadlines: Deadlines | None = None,
    patience: Patience | None = None,
) -> AsyncGenerator[Core]:
    """Runs a core for the length of the block; no worker outlives it.

    Args:
        loaded: What the core starts with.
        environ: The core's environment, from which those of its workers are built.
        python: The interpreter that runs the core.
        state: Keeps what the core is told; None where it is to be told nothing.
        deadlines: Of requests; the design's where None.
        patience: Of those who watch over workers; the usual one where None.

    Raises:
        SocketFolderRefused: There is no place for the workers' sockets.
        FolderRefused: There is none for voices.
    """
    settings = loaded.settings
    entries = in_service(settings.engines)
    check_voice_folder(settings.workers.voice_dir)
    with socket_folder(settings.workers.socket_dir) as sockets:
        for engine, entry in entries.items():
            if entry.url is None:
                socket_path(sockets, engine)  # refused now, and not by the first request
        async with anyio.create_task_group() as tasks:
            around = Surroundings(
                environ=environ,
                python=python,
                sockets=sockets,
                voice_dir=settings.workers.voice_dir,
                startup_seconds=settings.workers.startup_timeout_seconds,
                grace_seconds=settings.workers.drain_grace_ms / 1000,
                load_seconds=(deadlines or Deadlines()).load_seconds,
                max_restarts=settings.workers.max_restarts,
                restart_decay_seconds=settings.workers.restart_decay_seconds,
                patience=patience or Patience(),
            )
            parts = _parts(loaded, around, state, deadlines or Deadlines(), tasks)
            for engine, entry in entries.items():
                # A worker on another machine may hold a model already, which counts.
                if entry.autostart or entry.url is not None:
                    tasks.start_soon(_start_early, parts.fleet, engine)
            tasks.start_soon(parts.management.work)
            yield Core(guarded(_app(parts), settings.management), parts.fleet, parts.management)
            parts.management.stop()
            parts.residency.close()
            tasks.cancel_scope.cancel()


@dataclass(frozen=True)
class _Parts:
    """What the routes ask."""

    fleet: Fleet
    residency: ResidencyManager
    speech: Speech
    voices: Voices
    management: Management
    settings_desk: SettingsDesk
    updates: Updates
    metrics: Metrics


def _parts(
    loaded: LoadedSettings,
    around: Surroundings,
    state: StateDatabase | None,
    deadlines: Deadlines,
    tasks: anyio.abc.TaskGroup,
) -> _Parts:
    """Builds every part and ties it to the others; starts nothing."""
    settings, environ = loaded.settings, around.environ
    metrics, live, catalog = Metrics(), LiveSettings(loaded), load_catalog()

    def gone(engine: str) -> None:
        residency.note_gone(engine)

    def found(engine: str, variant: str) -> None:
        residency.note_found(engine, variant)

    entries = in_service(settings.engines)
    fleet = Fleet(entries, around, tasks, gone, found, labels_of(catalog))
    residency = ResidencyManager(
        fleet,
        settings=lambda: live.current.residency,
        keep_alive_of=live.keep_alive_of,
        tasks=tasks,
        observe=metrics.note_eviction,
    )
    live.watch(residency.note_settings)
    metrics.watch(fleet, residency)
    each = DeadlinesOfEngines(deadlines, lambda engine: fleet.worker(engine).entry)
    roster = LiveRoster(settings.engines, loaded.origins, state, live, fleet, residency)
    return _Parts(
        fleet=fleet,
        residency=residency,
        speech=Speech(fleet, residency, each, SpeechMetrics(metrics.registry)),
        voices=Voices(fleet, residency, around.patience.create_seconds),
        management=Management.of(catalog, roster, settings.install, environ),
        settings_desk=SettingsDesk(live, state, start_checks),
        updates=Updates(lambda: live.current.update.check, environ, tasks),
        metrics=metrics,
    )


def _app(parts: _Parts) -> Starlette:
    app = Starlette(
        # Tried in this order: first what is asked most and soonest needed.
        routes=[
            *speak.routes,
            *health.routes,
            *engines.routes,
            *voices_api.routes,
            *card.routes,
            *settings_api.routes,
            *installs_api.routes,
            *catalog_api.routes,
            *update_api.routes,
            *openapi_page.routes,
            *metrics_page.routes,
        ],
        exception_handlers=exception_handlers(),
    )
    app.router.redirect_slashes = False
    for part in fields(parts):
        setattr(app.state, part.name, getattr(parts, part.name))
    return app


async def _start_early(fleet: Fleet, engine: str) -> None:
    try:
        await fleet.worker(engine).ensure_up()
    except RhapsodeError as error:
        logger.warning("autostart: %s", error.message, extra={"engine": engine})
