"""A core as far as its settings go, for tests of `GET /settings` and `PATCH /settings`."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from rhapsode.api import settings as settings_api
from rhapsode.api.guard.guard import guarded
from rhapsode.settings.desk import SettingsDesk
from rhapsode.settings.file import load_settings
from rhapsode.settings.folders import Folders
from rhapsode.settings.live import LiveSettings
from rhapsode.start_checks import start_checks
from rhapsode.state import StateDatabase, database_path
from rhapsode_http import exception_handlers
from rhapsode_http.listener import Listener
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

HERE, THERE = "127.0.0.1", "203.0.113.9"
PAGE: Final = "https://page.example"
SECRET: Final = "s3cret"

LISTED: Final = f'[management]\ntoken = "{SECRET}"\norigins = ["{PAGE}", "https://other.example"]\n'
TONE: Final = '[engines.tone]\nvenv = "/v/tone"\n'

LIVE: Final = {
    "residency.maxResidentModels",
    "residency.evictionWaitSeconds",
    "residency.keepAliveSeconds",
    "update.check",
}
RESTART: Final = {
    "server.host",
    "server.port",
    "server.shutdownGraceMs",
    "log.level",
    "workers.socketDir",
    "workers.voiceDir",
    "workers.startupTimeoutSeconds",
    "workers.drainGraceMs",
    "workers.maxRestarts",
    "workers.restartDecaySeconds",
    "install.venvDir",
    "install.sourceDir",
    "install.python",
    "management.token",
    "management.origins",
}


@dataclass
class Box:
    """A core as far as its settings go."""

    app: Any
    live: LiveSettings
    state: StateDatabase | None

    async def ask(self, method: str, peer: str = HERE, **asked: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._serve, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            return await http.request(method, "/settings", **asked)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        Listener().add_to(scope)  # as the server does
        await self.app(scope, receive, send)

    async def document(self) -> dict[str, Any]:
        answer = await self.ask("GET")
        assert answer.status_code == 200
        return answer.json()

    async def patch(self, peer: str = HERE, headers: Any = None, **sections: Any) -> dict[str, Any]:
        """Returns the document after a change that is allowed."""
        answer = await self.ask("PATCH", peer, json=sections, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def refused(
        self, body: Any, peer: str = HERE, headers: Any = None
    ) -> tuple[int, str, str]:
        """Returns status, code and message; holds that nothing has changed."""
        assert self.state is not None
        before = self.state.settings(), await self.document()
        answer = await self.ask("PATCH", peer, json=body, headers=headers)
        assert (self.state.settings(), await self.document()) == before
        error = answer.json()["error"]
        return answer.status_code, error["code"], error["message"]


@contextmanager
def box(
    folder: Path, config: str = "", *, has_state: bool = True, ignores_saved: bool = False
) -> Generator[Box]:
    """Gives a core with a database of its own, or the one that an earlier one left."""
    file = folder / "rhapsode.toml"
    file.write_text(config, encoding="utf-8")
    folders = Folders(folder / "user", folder / "d", folder / "s", None)
    if not has_state:
        yield made(LiveSettings(load_settings(file, folders)), None)
        return
    with StateDatabase.open(database_path(file, folders), busy_seconds=0) as state:
        contents = state.contents()
        loaded = load_settings(file, folders, contents, ignores_saved=ignores_saved)
        yield made(LiveSettings(loaded), state)


def made(live: LiveSettings, state: StateDatabase | None) -> Box:
    app = Starlette(routes=settings_api.routes, exception_handlers=exception_handlers())
    app.state.settings_desk = SettingsDesk(live, state, start_checks)
    return Box(guarded(app, live.current.management), live, state)


def fields(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["key"]: one for one in document["fields"]}


def remote(**more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {SECRET}", **more}
