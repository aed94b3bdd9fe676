"""`GET /catalog`: every engine that exists, with both licences. Open to everybody."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import json_list
from rhapsode.installs.listing import CatalogListing


async def show_catalog(request: Request) -> Response:
    """Answers from what is known: starts nothing and waits for nothing."""
    catalog: CatalogListing = request.app.state.management.catalog
    return json_list(catalog.entries())


routes = [Route("/catalog", show_catalog)]
