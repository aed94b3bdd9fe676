"""Whether a newer release exists: `GET /update`, and `POST /update/check` to ask now."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import ForAListener, json_shape
from rhapsode.update.updates import Updates


async def show_update(request: Request) -> Response:
    """Answers from what is known: never waits for the network."""
    updates: Updates = request.app.state.updates
    return json_shape(updates.look())


async def check_now(request: Request) -> Response:
    """Answers once GitHub has, or has not."""
    updates: Updates = request.app.state.updates
    return json_shape(await updates.check())


routes = [
    Route("/update", show_update),
    Route("/update/check", ForAListener(check_now), methods=["POST"]),
]
"""Open to every caller: what they say is public, and what they cost is bounded."""
