"""The voices of an engine."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import ForAListener, json_bytes
from rhapsode.voices import Voices


async def list_voices(request: Request) -> Response:
    """Passes on the worker's list."""
    voices: Voices = request.app.state.voices
    return json_bytes(await voices.listed(request.path_params["engine"]))


async def hear_preview(request: Request) -> Response:
    """Passes on a sample of a voice."""
    voices: Voices = request.app.state.voices
    engine, voice = request.path_params["engine"], request.path_params["voice"]
    sample = await voices.preview(engine, voice)
    return Response(sample.body, headers={"content-type": sample.content_type})


routes = [
    Route("/engines/{engine}/voices", ForAListener(list_voices), methods=["GET"]),
    # A path, so that an id with a slash in it is told what an id is (contract § 7).
    Route(
        "/engines/{engine}/voices/{voice:path}/preview", ForAListener(hear_preview), methods=["GET"]
    ),
]
