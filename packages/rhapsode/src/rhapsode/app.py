"""The composition: settings in, every part built and tied to the others, an ASGI app out."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from rhapsode_contract import RhapsodeError
from rhapsode_http import exception_handlers
from starlette.applications import Starlette

from rhapsode.api import engines, health, speak, voices
from rhapsode.registry import in_service
from rhapsode.residency.slot import Slot
from rhapsode.settings.model import Settings
from rhapsode.speech.deadlines import Deadlines
from rhapsode.speech.speak import Speech
from rhapsode.voices import Voices
from rhapsode.workers.fleet import Fleet
from rhapsode.workers.sockets import socket_folder
from rhapsode.workers.worker import Surroundings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Core:
    """A running core."""

    app: Starlette
    """What a server serves."""

    fleet: Fleet


@asynccontextmanager
async def open_core(
    settings: Settings,
    *,
    environ: Mapping[str, str],
    python: str,
    deadlines: Deadlines | None = None,
) -> AsyncGenerator[Core]:
    """Runs a core for the length of the block; no worker outlives it.

    Args:
        settings: In force until the block ends.
        environ: The core's environment, from which those of its workers are built.
        python: The interpreter that runs the core.
        deadlines: Of requests; the design's where None.

    Raises:
        SocketFolderRefused: There is no place for the workers' sockets.
    """
    limits = deadlines or Deadlines()
    with socket_folder(settings.workers.socket_dir) as sockets:
        async with anyio.create_task_group() as tasks:
            surroundings = Surroundings(
                environ=environ,
                python=python,
                sockets=sockets,
                voice_dir=settings.workers.voice_dir,
                startup_seconds=settings.workers.startup_timeout_seconds,
                grace_seconds=settings.workers.drain_grace_ms / 1000,
                load_seconds=limits.load_seconds,
            )
            entries = in_service(settings.engines)
            fleet = Fleet(entries, surroundings, tasks)
            slot = Slot(
                end=fleet.end,
                wait_seconds=lambda: settings.residency.eviction_wait_seconds,
                tasks=tasks,
            )
            for engine, entry in entries.items():
                if entry.autostart:
                    tasks.start_soon(_start_early, fleet, engine)
            yield Core(_app(fleet, slot, limits), fleet)
            tasks.cancel_scope.cancel()


def _app(fleet: Fleet, slot: Slot, limits: Deadlines) -> Starlette:
    app = Starlette(
        # Tried in this order: first what is asked most and soonest needed.
        routes=[*speak.routes, *health.routes, *engines.routes, *voices.routes],
        exception_handlers=exception_handlers(),
    )
    app.router.redirect_slashes = False
    app.state.fleet = fleet
    app.state.slot = slot
    app.state.speech = Speech(fleet, slot, limits)
    app.state.voices = Voices(fleet)
    return app


async def _start_early(fleet: Fleet, engine: str) -> None:
    try:
        await fleet.worker(engine).ensure_up()
    except RhapsodeError as error:
        logger.warning("autostart: %s", error.message, extra={"engine": engine})
