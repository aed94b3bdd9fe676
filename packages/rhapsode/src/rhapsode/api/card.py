"""What is on the card, and giving it back: `GET /residency` and `POST /engines/{engine}/unload`."""

from typing import get_args

from rhapsode_contract import BadRequest
from rhapsode_contract.quoting import shown
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import json_shape
from rhapsode.residency.manager import ResidencyManager
from rhapsode.residency.models import Mode
from rhapsode.workers.fleet import Fleet


async def show_residency(request: Request) -> Response:
    """Answers from what is known: starts nothing and waits for nothing."""
    residency: ResidencyManager = request.app.state.residency
    return json_shape(residency.report())


async def free(request: Request) -> Response:
    """Gives an engine's memory back, and answers with the engine as it is then."""
    fleet: Fleet = request.app.state.fleet
    residency: ResidencyManager = request.app.state.residency
    worker = fleet.worker(request.path_params["engine"])
    await residency.free(worker.engine, _mode_of(request))
    return json_shape(worker.summary())


def _mode_of(request: Request) -> Mode:
    """Returns how memory is given back; `terminate` where nothing is said.

    Raises:
        BadRequest: It is another word, said twice, or the query says something else.
    """
    for name, value in (pairs := request.query_params.multi_items()):
        if name != "mode":
            raise BadRequest(f"{name}: no such parameter; there is mode", field=name)
        if len(pairs) > 1:
            raise BadRequest("mode: given more than once", field="mode")
        for mode in get_args(Mode):
            if value == mode:
                return mode
        raise BadRequest(f"mode: terminate or unload, not {shown(value)}", field="mode")
    return "terminate"


routes = [
    Route("/residency", show_residency),
    Route("/engines/{engine}/unload", free, methods=["POST"]),
]
