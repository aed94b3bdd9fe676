"""Who may talk to a worker that listens on a network (design, "A worker on the network")."""

import hmac

from rhapsode_contract import Forbidden
from rhapsode_http import error_response
from starlette.types import ASGIApp, Receive, Scope, Send


class Doorkeeper:
    """ASGI middleware: every request shows the token, or hears `forbidden` before its body."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        refusal = Forbidden("this worker wants its token: Authorization: Bearer …")
        await error_response(refusal)(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(shown) != 1:
            return False
        scheme, _, token = shown[0].partition(b" ")  # a scheme in any case (RFC 9110 § 11.1)
        is_right = hmac.compare_digest(token.strip(b" "), self._token)
        return is_right and scheme.lower() == b"bearer"
