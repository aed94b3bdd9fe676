"""`GET /settings` and `PATCH /settings`."""

from typing import Final

from rhapsode_http import read_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import ByMethod, ForAListener, WithBody, json_shape
from rhapsode.api.guard.admission import Standing
from rhapsode.api.guard.guard import STANDING
from rhapsode.api.guard.origins import is_this_machines, values_of
from rhapsode.settings.caller import Caller
from rhapsode.settings.desk import SettingsDesk
from rhapsode.settings.patch import SettingsPatch


async def show_settings(request: Request) -> Response:
    """Answers from what is known."""
    desk: SettingsDesk = request.app.state.settings_desk
    return json_shape(desk.document())


async def change_settings(request: Request) -> Response:
    """Writes what came, and answers with the whole document."""
    desk: SettingsDesk = request.app.state.settings_desk
    patch = await read_json(request, SettingsPatch)
    return json_shape(await desk.change(patch, _caller(request)))


def _caller(request: Request) -> Caller:
    """Returns what the guard found of whoever asks; without one nobody is local."""
    pages = [
        origin.decode("latin-1")
        for origin in values_of(request.headers.raw, b"origin")
        if not is_this_machines(origin)
    ]
    is_local = request.scope.get(STANDING) is Standing.LOCAL
    return Caller(is_local=is_local, origin=pages[0] if pages else None)


_settings: Final = ByMethod(GET=ForAListener(show_settings), PATCH=WithBody(change_settings))

routes = [Route("/settings", _settings, methods=_settings.methods)]
