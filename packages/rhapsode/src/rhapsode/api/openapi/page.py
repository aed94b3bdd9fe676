"""`GET /openapi.json`: this server's public API, described. Open, like `/health`."""

import json

from anyio.lowlevel import checkpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import json_bytes
from rhapsode.api.openapi.public import SHAPES, public_document
from rhapsode.api.openapi.schemas import Node, schemas_of
from rhapsode.version import VERSION


class Description:
    """The document as bytes, made when first asked for."""

    def __init__(self) -> None:
        self._written: bytes | None = None

    async def show(self, _: Request) -> Response:
        """Answers with the document; the first time others are answered between its parts."""
        if self._written is None:
            schemas: dict[str, Node] = {}
            for shape in SHAPES:
                schemas |= schemas_of(shape)
                await checkpoint()
            made = public_document(VERSION, schemas)
            self._written = json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()
        return json_bytes(self._written)


routes = [Route("/openapi.json", Description().show)]
