"""The outermost layer of the server: nothing of a request is read before it has been judged."""

import logging
import socket
from collections.abc import MutableMapping
from typing import Any, Final

from rhapsode_contract import Forbidden
from rhapsode_http import error_response
from starlette.types import ASGIApp, Receive, Scope, Send

from rhapsode.api.guard.admission import Rules, Standing, Verdict, admit
from rhapsode.api.guard.management import is_management
from rhapsode.api.guard.origins import admitted_origin
from rhapsode.api.guard.sharing import is_preflight, preflight_answer, shared_with
from rhapsode.settings.model import ManagementSettings

logger = logging.getLogger(__name__)

STANDING: Final = "rhapsode.standing"
"""Where the scope of a request to a management route has what its caller is, a `Standing`."""


class Guard:
    """ASGI middleware: lets pass to management routes whom `rules` admit, to others everybody.

    Whoever is refused hears it before a byte of the request's body is read. No app behind the
    guard sees an `Authorization`.
    """

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = scope["headers"]
        # One look at the headers: this is paid by every request, and most have neither.
        is_of_page = has_secret = False
        for name, _ in headers:
            if name == b"origin":
                is_of_page = True
            elif name == b"authorization":
                has_secret = True
        if is_of_page:
            origin = admitted_origin(headers, self._rules.origins)
            if origin is not None and is_preflight(scope["method"], headers):
                await preflight_answer(origin, headers)(scope, receive, send)
                return
            send = shared_with(origin, send)
        if is_management(scope["method"], scope["path"]):
            verdict = self._judge(scope)
            if verdict.standing is Standing.FORBIDDEN:
                await error_response(Forbidden(verdict.why))(scope, receive, send)
                return
            scope = {**scope, STANDING: verdict.standing}
        if has_secret or scope.get("root_path"):
            scope = _cleaned(scope)
        await self._app(scope, receive, send)

    def _judge(self, scope: Scope) -> Verdict:
        client: tuple[str, int] | None = scope.get("client")
        peer = client[0] if client is not None else None
        verdict = admit(peer, scope["headers"], self._rules)
        if verdict.standing is Standing.FORBIDDEN:
            method, path = scope["method"], scope["path"]
            logger.info("forbidden to %s: %s %r: %s", peer, method, path, verdict.why)
        return verdict


def guarded(app: ASGIApp, settings: ManagementSettings) -> Guard:
    """Returns `app` behind a guard that goes by this box's settings and this machine's name."""
    return Guard(app, Rules.of(settings, socket.gethostname()))


def _cleaned(scope: Scope) -> MutableMapping[str, Any]:
    """Returns a scope without credentials, whose routes are matched by the path that was judged."""
    headers = [pair for pair in scope["headers"] if pair[0] != b"authorization"]
    return {**scope, "headers": headers, "root_path": ""}
