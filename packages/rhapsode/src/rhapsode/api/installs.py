"""Installing and removing engines, pulling weights, and the jobs that do it."""

from contextlib import aclosing, suppress
from http import HTTPStatus

from rhapsode_contract import BadRequest, PullRequest, Shape
from rhapsode_contract.quoting import cut, there_are
from rhapsode_http import ListenerLeft, read_json, send_stream, while_connected
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rhapsode.api.answers import json_list, json_shape
from rhapsode.api.sse import EVENT_STREAM_HEADERS, event_stream
from rhapsode.installs.feed import Feed
from rhapsode.installs.installer import Installer
from rhapsode.installs.jobs import Jobs


async def install(request: Request) -> Response:
    """Starts a job that installs an engine."""
    installer: Installer = request.app.state.management.installer
    asked = _parameters(request, "accept", "pull")
    job = installer.install(
        request.path_params["engine"], pull=asked.get("pull"), accept=asked.get("accept")
    )
    return _accepted(job)


async def reinstall(request: Request) -> Response:
    """Starts a job that builds an installed engine anew."""
    installer: Installer = request.app.state.management.installer
    asked = _parameters(request, "accept")
    return _accepted(installer.reinstall(request.path_params["engine"], accept=asked.get("accept")))


async def reinstall_outdated(request: Request) -> Response:
    """Starts such a job for every engine that is behind."""
    installer: Installer = request.app.state.management.installer
    _parameters(request)
    return _accepted(installer.reinstall_outdated())


async def uninstall(request: Request) -> Response:
    """Removes an engine, and answers once it is gone."""
    installer: Installer = request.app.state.management.installer
    _parameters(request)
    await installer.uninstall(request.path_params["engine"])
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def pull(request: Request) -> Response:
    """Starts a job that fetches the weights of a variant."""
    installer: Installer = request.app.state.management.installer
    _parameters(request)
    body = await read_json(request, PullRequest)
    return _accepted(installer.pull(request.path_params["engine"], body.variant))


async def list_jobs(request: Request) -> Response:
    """Lists the jobs that are known, the newest first."""
    jobs: Jobs = request.app.state.management.jobs
    return json_list(job.shape() for job in jobs.newest_first())


async def show_job(request: Request) -> Response:
    """Shows one job."""
    jobs: Jobs = request.app.state.management.jobs
    return json_shape(jobs.job(request.path_params["job"]).shape())


class Events:
    """An ASGI endpoint: the feed of one job, until the client leaves.

    It is the job in the path whose events come, whatever the query says.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        jobs: Jobs = request.app.state.management.jobs
        feed: Feed = request.app.state.management.feed
        job = jobs.job(request.path_params["job"])
        if scope["method"] == "HEAD":  # would be an answer that never begins and never ends
            await Response(headers=_as_text(EVENT_STREAM_HEADERS))(scope, receive, send)
            return
        reader = feed.reader(job.id, request.headers.get("last-event-id"))
        with suppress(ListenerLeft), while_connected(scope):
            async with aclosing(event_stream(reader)) as pieces:
                await send_stream(send, EVENT_STREAM_HEADERS, pieces)


def _accepted(shape: Shape) -> Response:
    return Response(shape.to_json(), HTTPStatus.ACCEPTED, media_type="application/json")


def _parameters(request: Request, *allowed: str) -> dict[str, str]:
    """Returns the query's parameters, each said once.

    Raises:
        BadRequest: One is unknown, empty or repeated.
    """
    asked: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        field = cut(name)
        if name not in allowed:
            raise BadRequest(f"{field}: no such parameter; {there_are(allowed)}", field=field)
        if name in asked:
            raise BadRequest(f"{field}: given more than once", field=field)
        if not value:
            raise BadRequest(f"{field}: is empty", field=field)
        asked[name] = value
    return asked


def _as_text(headers: tuple[tuple[bytes, bytes], ...]) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}


_events = Events()

routes = [
    Route("/installs", list_jobs),
    Route("/installs/outdated", reinstall_outdated, methods=["POST"]),
    Route("/installs/{job}", show_job),
    Route("/installs/{job}/events", _events, methods=["GET"]),
    Route("/engines/{engine}", uninstall, methods=["DELETE"]),
    Route("/engines/{engine}/install", install, methods=["POST"]),
    Route("/engines/{engine}/reinstall", reinstall, methods=["POST"]),
    Route("/engines/{engine}/pull", pull, methods=["POST"]),
]
