"""`GET /engines` and what an engine can do."""

from rhapsode_contract import Capabilities
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import ForAListener, json_bytes, json_list
from rhapsode.workers.fleet import Fleet


async def list_engines(request: Request) -> Response:
    """Answers from what is known: starts nothing and waits for nothing."""
    fleet: Fleet = request.app.state.fleet
    return json_list(fleet.summaries())


async def show_capabilities(request: Request) -> Response:
    """Passes on the worker's own document. Starts a process that is down, never a model."""
    fleet: Fleet = request.app.state.fleet
    session = await fleet.worker(request.path_params["engine"]).ensure_up()
    return json_bytes(await session.document(Capabilities, "/capabilities"))


routes = [
    Route("/engines", list_engines),
    Route("/engines/{engine}/capabilities", ForAListener(show_capabilities), methods=["GET"]),
]
