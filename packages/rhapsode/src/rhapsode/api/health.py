"""`GET /health`: whether this box speaks, for a monitor."""

from rhapsode_contract import CONTRACT, CoreHealth
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import json_shape
from rhapsode.residency.manager import ResidencyManager
from rhapsode.version import VERSION
from rhapsode.workers.fleet import Fleet


async def show_health(request: Request) -> Response:
    """Answers from what is known: starts nothing and waits for nothing."""
    fleet: Fleet = request.app.state.fleet
    residency: ResidencyManager = request.app.state.residency
    engines = fleet.summaries()
    has_failed = any(engine.process == "failed" for engine in engines)
    health = CoreHealth(
        contract=CONTRACT,
        version=VERSION,
        status="degraded" if has_failed else "ok",
        engines=engines,
        residency=residency.summary(),
    )
    return json_shape(health)


routes = [Route("/health", show_health)]
